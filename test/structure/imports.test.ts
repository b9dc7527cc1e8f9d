import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { repository, root } from "./repository.ts";
import { importsOf, violations } from "./rules.ts";

describe("the repository", () => {
  const files = repository();

  it("is read as a whole", () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "anvil.config.ts",
        "functions/ingress.ts",
        "workers/main.ts",
        "packages/anvil/src/contract/envelope.ts",
        "packages/cli/bin/anvil.js",
        fileURLToPath(import.meta.url).slice(fileURLToPath(root).length),
      ]),
    );
    const worker = files.find(({ path }) => path === "packages/anvil/src/worker/create-worker.ts");
    expect(importsOf(worker?.text ?? "")).toEqual(
      expect.arrayContaining(["bullmq", "../contract/log.ts", "../queue/bury.ts", "./running-jobs.ts"]),
    );
  });

  it("keeps every rule of its structure", () => {
    expect(violations(files)).toEqual([]);
  });
});

describe("each rule can be broken", () => {
  const library = "packages/anvil/src";
  const importing = (specifier: string) => `import { x } from "${specifier}";\n`;

  it.each<[string, string, string]>([
    // contract imports nothing
    [`${library}/contract/x.ts`, importing("../queue/bury.ts"), "contract/ must not import queue/bury.ts"],
    [
      `${library}/contract/x.ts`,
      importing("../signatures/verify.ts"),
      "contract/ must not import signatures/verify.ts",
    ],
    [`${library}/contract/x.ts`, importing("../index.ts"), "contract/ must not import index.ts"],
    [`${library}/contract/x.ts`, importing("valibot"), "contract/ must not import valibot"],
    [`${library}/contract/x.ts`, importing("node:fs"), "contract/ must not import node:fs"],
    // signatures is pure
    [
      `${library}/signatures/x.ts`,
      importing("../queue/index.ts"),
      "signatures/ must not import queue/index.ts",
    ],
    [
      `${library}/signatures/x.ts`,
      importing("../ingress/index.ts"),
      "signatures/ must not import ingress/index.ts",
    ],
    [
      `${library}/signatures/providers/x.ts`,
      importing("../../queue/x.ts"),
      "signatures/ must not import queue/x.ts",
    ],
    [`${library}/signatures/x.ts`, importing("hono"), "signatures/ must not import hono"],
    [`${library}/signatures/x.ts`, importing("node:net"), "signatures/ must not import node:net"],
    // queue knows Redis and BullMQ's scripts, and nobody above it
    [
      `${library}/queue/x.ts`,
      importing("../signatures/verify.ts"),
      "queue/ must not import signatures/verify.ts",
    ],
    [`${library}/queue/x.ts`, importing("../worker/event.ts"), "queue/ must not import worker/event.ts"],
    [`${library}/queue/x.ts`, importing("bullmq"), "queue/ must not import bullmq"],
    [
      `${library}/queue/x.ts`,
      importing("bullmq/dist/esm/classes/queue.js"),
      "queue/ must not import bullmq/dist/esm/classes/queue.js",
    ],
    // ingress never imports worker code
    [`${library}/ingress/x.ts`, importing("../worker/event.ts"), "ingress/ must not import worker/event.ts"],
    [`${library}/ingress/x.ts`, importing("../replay/index.ts"), "ingress/ must not import replay/index.ts"],
    [`${library}/ingress/x.ts`, importing("../index.ts"), "ingress/ must not import index.ts"],
    [`${library}/ingress/x.ts`, importing("bullmq"), "ingress/ must not import bullmq"],
    [
      `${library}/ingress/x.ts`,
      importing("webhook-anvil/worker"),
      "ingress/ must not import webhook-anvil/worker",
    ],
    // replay starts no worker
    [`${library}/replay/x.ts`, importing("../worker/index.ts"), "replay/ must not import worker/index.ts"],
    [`${library}/replay/x.ts`, importing("bullmq"), "replay/ must not import bullmq"],
    // worker needs no ingress
    [`${library}/worker/x.ts`, importing("../ingress/index.ts"), "worker/ must not import ingress/index.ts"],
    [
      `${library}/worker/x.ts`,
      importing("bullmq/dist/esm/x.js"),
      "worker/ must not import bullmq/dist/esm/x.js",
    ],
    // a folder that nobody thought of
    [
      `${library}/extras/x.ts`,
      "",
      "extras/ is a folder that no rule knows; say in test/structure/rules.ts what it may import",
    ],
    // every way to import
    [`${library}/ingress/x.ts`, 'import type {\n  A,\n} from "bullmq";', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, "import * as b from 'bullmq'", "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'import "bullmq";', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'export { Queue } from "bullmq";', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'export * from "bullmq";', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'const b = await import("bullmq");', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'type Q = import("bullmq").Queue;', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'const b = require("bullmq");', "ingress/ must not import bullmq"],
    [`${library}/ingress/x.ts`, 'const a = 1; import "bullmq";', "ingress/ must not import bullmq"],
    // functions start cold
    ["functions/x.ts", importing("webhook-anvil"), "a function must not import webhook-anvil"],
    ["functions/x.ts", importing("webhook-anvil/worker"), "a function must not import webhook-anvil/worker"],
    // the environment
    ...["process.env.A", "process['env'].A", "const { env } = process;", "process.exit(1)"].map(
      (code): [string, string, string] => [
        `${library}/queue/x.ts`,
        code,
        "the library takes the environment and never reads it, but: process",
      ],
    ),
    [`${library}/worker/x.ts`, importing("node:process"), "the library must not import node:process"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code in a text
    ["workers/handlers/x.ts", "`${process.env.A}`", "only the entries read process.env, but: process.env"],
    ["workers/handlers/x.ts", 'process["env"]', "only the entries read process.env, but: process["],
    ["packages/deploy/src/x.ts", "process.env.A", "only the entries read process.env, but: process.env"],
    ["anvil.config.ts", "const { env } = process;", "only the entries read process.env, but: = process"],
    [
      "packages/console/src/x.ts",
      "process\n  .env.A",
      "only the entries read process.env, but: process\n  .env",
    ],
    // the clock
    ...["Date.now", "performance", "new Date", "Date("].map((clock): [string, string, string] => [
      `${library}/contract/x.ts`,
      clock === "performance" ? "performance.now()" : clock === "Date(" ? "Date()" : `${clock}()`,
      `contract and signatures take the time and never read the clock, but: ${clock}`,
    ]),
    [
      `${library}/signatures/x.ts`,
      "const now = Date.now;",
      "contract and signatures take the time and never read the clock, but: Date.now",
    ],
    // size and names
    ["functions/x.ts", "\n".repeat(501), "has 501 lines; look for the second idea from 500"],
    [
      "packages/anvil/src/queue/x.test.ts",
      "//\n".repeat(501),
      "has 501 lines; look for the second idea from 500",
    ],
    ["packages/cli/src/utils/x.ts", "", "folders are capabilities, never kinds: utils/"],
    ["test/helpers/x.json", "", "folders are capabilities, never kinds: helpers/"],
    ["packages/testkit/src/types/x.ts", "", "folders are capabilities, never kinds: types/"],
  ])("%s with %j", (path, text, what) => {
    expect(violations([{ path, text }])).toEqual(expect.arrayContaining([`${path}: ${what}`]));
  });

  it("by both rules for the environment, by one each for everything else", () => {
    expect(violations([{ path: `${library}/queue/x.ts`, text: "process.env" }])).toHaveLength(2);
    expect(violations([{ path: `${library}/ingress/x.ts`, text: importing("bullmq") }])).toHaveLength(1);
  });
});

describe("no rule is broken by", () => {
  const library = "packages/anvil/src";
  it.each<[string, string]>([
    [
      `${library}/contract/x.ts`,
      'import { createHash } from "node:crypto";\nimport { env } from "./config.ts";',
    ],
    [`${library}/queue/x.ts`, 'import { s } from "bullmq/dist/cjs/scripts/addStandardJob-9.js";'],
    [
      `${library}/ingress/x.ts`,
      'import { handle } from "hono/aws-lambda";\nimport { x } from "../queue/index.ts";',
    ],
    [`${library}/worker/x.ts`, 'import { Worker } from "bullmq";'],
    [`${library}/index.ts`, 'export * from "./worker/index.ts";'],
    [
      `${library}/ingress/x.ts`,
      '// import { Queue } from "bullmq";\n/* process.env */ const a = "process.env";',
    ],
    [`${library}/ingress/x.ts`, 'export const a = "bullmq";\nconst url = "redis://queue"; // process.env'],
    [`${library}/worker/x.ts`, 'import { jobProcessor } from "./process-job.ts";'],
    [`${library}/contract/x.ts`, "const at = new Date(nowMs); // Date.now()"],
    [`${library}/ingress/x.ts`, "const now = options.now ?? Date.now;"],
    [`${library}/queue/x.test.ts`, 'import { Queue } from "bullmq";\nprocess.env.A;'],
    [`${library}/queue/fixtures.ts`, 'import { Queue } from "bullmq";'],
    ["functions/x.ts", 'import { x } from "webhook-anvil/replay";\nprocess.env.A;'],
    ["workers/main.ts", 'import { x } from "webhook-anvil";\nconst env = process.env;'],
    ["packages/cli/src/x.ts", "process.env.A"],
    ["sst.config.ts", "read(process.env);"],
    ["packages/bootstrap/x.js", "process.env.A"],
    ["functions/x.ts", "//\n".repeat(500)],
    ["packages/anvil/src/contract/types.ts", ""],
  ])("%s with %j", (path, text) => {
    expect(violations([{ path, text }])).toEqual([]);
  });
});
