import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What `import` gives under each entry of the package. Taking one away breaks somebody; adding one is a promise. */
const entries: Record<string, readonly string[]> = {
  "webhook-anvil": [
    "AnvilError",
    "ConfigError",
    "DEFAULT_BODY_LIMIT",
    "DEFAULT_DEADLINE_MS",
    "DEFAULT_DEDUPE_MS",
    "DEFAULT_PREFIX",
    "DEFAULT_QUEUE",
    "DEFAULT_RETRY_SCHEDULE",
    "RetryAfter",
    "Unrecoverable",
    "consoleLog",
    "createServer",
    "createWorker",
    "deadQueueName",
    "decodeBody",
    "defineConfig",
    "env",
    "eventKey",
    "formatDuration",
    "formatRetrySchedule",
    "parseDuration",
    "parseRetrySchedule",
    "redisUrlFrom",
    "replayDeadLetter",
    "signatureBodyIdentity",
    "silentLog",
  ],
  "webhook-anvil/ingress": ["createServer", "httpsKeys"],
  "webhook-anvil/worker": ["RetryAfter", "Unrecoverable", "createWorker"],
  "webhook-anvil/replay": ["replayDeadLetter"],
  "webhook-anvil/queue": [
    "DEFAULT_PREFIX",
    "DEFAULT_QUEUE",
    "DEFAULT_REDIS_URL",
    "bury",
    "createConnection",
    "deadlineIn",
    "decodeBody",
    "describeAddress",
    "enqueue",
    "formatDuration",
    "isJobId",
    "jobState",
    "listDead",
    "logReplay",
    "parseDuration",
    "queueNameProblem",
    "queueStats",
    "redisAddress",
    "replayRecord",
    "resolveEncryption",
    "sealedKeyId",
    "showDead",
    "sweep",
    "unbury",
  ],
  "webhook-anvil/signatures": [
    "KeyUnavailable",
    "defineConfig",
    "explainRequest",
    "fieldLists",
    "judgeVector",
    "providers",
    "resolveConfig",
    "resolveDurability",
    "servedSources",
    "signDelivery",
    "signRequest",
    "unknownProvider",
    "verifyRequest",
  ],
  "webhook-anvil/config": ["consoleLog", "defineConfig", "env", "redisUrlFrom", "silentLog", "upstashFrom"],
  "webhook-anvil/node": ["listen"],
};

/** A program that imports one entry, and every file that it would load. */
async function bundle(entry: string): Promise<{ code: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export * from "${entry}";`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    conditions: ["anvil-source"],
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  return { code: outputFiles[0]?.text ?? "", inputs: Object.keys(metafile.inputs) };
}

/** Runs a program in a process of its own until that ends by itself. */
async function run(code: string): Promise<{ exitCode: number; said: string }> {
  const child = spawn(process.execPath, ["--input-type=commonjs", "-"], { env: {}, timeout: 10_000 });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  child.stdin.end(code);
  const [exitCode] = await once(child, "close");
  return { exitCode, said };
}

/** Runs before the program. A timer that was unreferenced leaves no other trace. */
const watch = `
  const started = [];
  for (const name of ["setTimeout", "setInterval", "setImmediate"]) {
    const start = globalThis[name];
    globalThis[name] = (...args) => (started.push(name), start(...args));
  }`;
/** Runs after it. The pipes and the file are this process's own. */
const report = `{
  const own = ["PipeWrap", "FSReqCallback", "TTYWrap"];
  const busy = process.getActiveResourcesInfo().filter((name) => !own.includes(name));
  const trapped = process.eventNames().filter((name) => /^SIG|^uncaught|^unhandled|xit$/.test(String(name)));
  console.log(...Object.entries({ started, busy, trapped }).flatMap(([what, list]) => [what, JSON.stringify(list)]));
}`;

const engine = /bullmq\/dist\/[a-z]+\/classes\//;

describe.each(Object.entries(entries))("%s", (entry, names) => {
  it("exports exactly what it promises", async () => {
    expect(Object.keys(await import(entry)).sort()).toEqual(names);
  });

  it("does nothing when it is imported: no socket, no timer, no output, no trapped signal", async () => {
    const { code } = await bundle(entry);
    expect(await run(`${watch};${code};${report}`)).toEqual({
      exitCode: 0,
      said: "started [] busy [] trapped []\n",
    });
  });
});

describe("BullMQ's engine", () => {
  it.each(["ingress", "replay", "queue", "signatures", "config"])(
    "is not loaded by webhook-anvil/%s",
    async (part) => {
      const { inputs } = await bundle(`webhook-anvil/${part}`);
      expect(inputs).toContainEqual(expect.stringMatching(/packages\/anvil\/src\/|^src\//));
      expect(inputs.filter((path) => engine.test(path))).toEqual([]);
    },
  );

  it("is loaded by webhook-anvil/worker, so the search above can find it", async () => {
    const { inputs } = await bundle("webhook-anvil/worker");
    expect(inputs.filter((path) => engine.test(path)).length).toBeGreaterThan(5);
  });

  it("leaves what reads a configuration file light: no package at all", async () => {
    const { inputs } = await bundle("webhook-anvil/config");
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
  });
});
