import { createDecipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnNode } from "anvil-testkit";
import type { Graph } from "./graph.ts";

/** What was linked to a function, by name. */
export type Links = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A function as a deployment has built it: the files of its zip, and the environment that Lambda would give it. */
export interface BuiltFunction {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** From the encrypted file in the zip. */
  links(): Links;
  /** Runs it in a process of its own, with these events one after the other. @returns its answers, or its errors */
  invoke(events: readonly unknown[]): Promise<unknown[]>;
}

/**
 * @param checkout the offline stage's folder
 * @param name the component's, as in `Ingress`
 */
export function builtFunction(checkout: string, graph: Graph, name: string): BuiltFunction {
  const folder = join(checkout, ".sst", "artifacts", `${name}-src`);
  const environment = graph.inputs("aws:lambda/function:Function", `${name}Function`).environment.variables;
  return {
    folder,
    environment,
    links() {
      const sealed = readFileSync(join(folder, environment.SST_KEY_FILE));
      const key = Buffer.from(environment.SST_KEY, "base64");
      // As SST's own reader does: no nonce to speak of, since each deployment has a key of its own.
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.alloc(12));
      decipher.setAuthTag(sealed.subarray(-16));
      return JSON.parse(
        Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]).toString(),
      );
    },
    async invoke(events) {
      const child = spawnNode({
        entry: "test/deploy/fixtures/invoke-bundle.js",
        args: [folder],
        env: {
          ...environment,
          REDIS_URL: undefined,
          WEBHOOK_SECRET: undefined,
          EVENTS: JSON.stringify(events),
        },
      });
      const { code } = await child.exited;
      if (code !== 0)
        throw new Error(`The bundle in ${folder} ended with exit code ${code}:\n${child.stderr()}`);
      return [...child.stdout().matchAll(/^answer (.*)$/gm)].map(([, answer]) =>
        JSON.parse(answer as string),
      );
    },
  };
}
