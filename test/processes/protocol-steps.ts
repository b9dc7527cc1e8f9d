import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { addStandardJobLua, reprocessJobLua } from "../../packages/anvil/src/queue/bullmq-scripts.ts";
import { buryFunctionLua } from "../../packages/anvil/src/queue/bury-lua.ts";

/** The steps of the protocol that a command to Redis takes, and one that a handler takes. */
export const BOUNDARIES = [
  "add",
  "handler-effect",
  "complete",
  "fail",
  "retry",
  "bury",
  "unbury",
  "sweep",
  "step",
] as const;

export type Boundary = (typeof BOUNDARIES)[number];

type Lua = { readonly name: string; readonly content: string };
const bullScripts = Object.values(
  createRequire(import.meta.url)("bullmq/dist/cjs/scripts/index.js") as Record<string, Lua>,
);
const bullLua = (name: string): string => {
  const script = bullScripts.find((each) => each.name === name);
  if (!script) throw new Error(`BullMQ has no script ${name} any more; teach die-at.ts its new name`);
  return script.content;
};
const [finishLua, delayLua, retryLua] = ["moveToFinished", "moveToDelayed", "retryJob"].map(bullLua) as [
  string,
  string,
  string,
];

/** Texts by their digests. BullMQ names a script by its digest from the start, Anvil sends its text first. */
const textOf = new Map<string, string>();
for (const lua of [finishLua, delayLua, retryLua, addStandardJobLua]) textOf.set(digest(lua), lua);

function digest(lua: string): string {
  return createHash("sha1").update(lua).digest("hex");
}

/** Which step this command is; undefined when it is none of them. */
export function boundaryOf(name: string, args: readonly unknown[]): Boundary | undefined {
  if (name !== "eval" && name !== "evalsha") return undefined;
  const [script, keyCount, ...rest] = args.map(String);
  if (script === undefined) return undefined;
  if (name === "eval") textOf.set(digest(script), script);
  const lua = textOf.get(name === "eval" ? digest(script) : script);
  const scriptArguments = rest.slice(Number(keyCount));
  if (scriptArguments[0]?.startsWith("step:")) return "step";
  if (lua === undefined) return undefined;
  if (lua === finishLua) return scriptArguments[4] === "failed" ? "fail" : "complete";
  if (lua === delayLua || lua === retryLua || lua === reprocessJobLua) return "retry";
  if (lua.includes(addStandardJobLua)) return "add";
  if (lua.includes(reprocessJobLua)) return "unbury";
  if (lua.includes(buryFunctionLua)) return /\nreturn bury\(/.test(lua) ? "bury" : "sweep";
  return undefined;
}

/** Whether Redis says by this reply that the step was taken, and not that there was nothing to do. */
export function hasEffect(boundary: Boundary, reply: unknown): boolean {
  if (boundary === "step" || boundary === "add") return reply !== null;
  if (boundary === "bury" || boundary === "unbury") return Number(reply) === 1;
  // How many it saw, how many it buried, and the ids of others that it found.
  if (boundary === "sweep") {
    const [, buried, ...found] = reply as [number, number, ...unknown[][]];
    return buried > 0 || found.some((ids) => ids.length > 0);
  }
  return !(Number(reply) < 0);
}
