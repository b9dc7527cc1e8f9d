import { expect, test } from "vitest";
import { anvil } from "./fixtures/anvil-process.ts";
import { runHere } from "./fixtures/run-here.ts";

// Nothing listens there, and none of these gets as far as asking.
const REDIS_URL = "redis://127.0.0.1:1";

test("--help is on stdout, without colours, warnings or exit code", async () => {
  const { code, stdout, stderr } = await anvil(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const command of [
    "ingress",
    "worker",
    "demo",
    "send",
    "verify",
    "dead",
    "replay",
    "stats",
    "doctor",
  ]) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, "m"));
  }
  expect(stdout).not.toContain("\u001b");
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
});

test("--version is the package's", async () => {
  expect(await anvil(["--version"])).toEqual({ code: 0, stdout: "0.2.0\n", stderr: "" });
});

const wrongUsage: [args: string[], message: RegExp][] = [
  [[], /^Usage: anvil/],
  [["dead"], /^Usage: anvil dead/],
  [["deda"], /unknown command 'deda' \(Did you mean dead\?\); usage: anvil/],
  [["dead", "lsit"], /unknown command 'lsit' \(Did you mean list\?\); usage: anvil dead/],
  [["stats", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\); usage: anvil stats/],
  [["stats", "extra"], /too many arguments/],
  [["dead", "show"], /missing required argument 'id'; usage: anvil dead show \[options\] <id>/],
  [["dead", "show", "17"], /"17" is no job id/],
  [["replay"], /missing required argument 'id'; usage: anvil replay/],
  [["replay", "failed"], /"failed" is no job id/],
  [["dead", "list", "--limit", "0"], /--limit is "0"; write a whole number from 1/],
  [["dead", "list", "--offset", "-1"], /--offset is "-1"; write a whole number from 0/],
  [["stats", "--queue", "a:b"], /queue "a:b": use letters/],
  [["stats", "--prefix", "anvil"], /prefix "anvil": write it in braces/],
  [["worker"], /worker needs --handlers FILE: write "export default async \(event\)/],
  [["worker", "--handlers", "x.ts", "--concurrency", "many"], /--concurrency is "many"/],
  [["worker", "--handlers", "x.ts", "--drain", "25"], /--drain is "25"; write a time as in 500ms/],
  [["ingress", "--drain", "soon"], /--drain is "soon"/],
  [["send", "nosuch"], /there is no source "nosuch"; anvil.config.ts has default/],
  [["verify"], /verify needs a provider and --request FILE/],
  [["verify", "stripe"], /verify needs a provider and --request FILE/],
  [
    ["verify", "nobody", "--request", "package.json"],
    /package\.json is no captured request: the JSON has no headers/,
  ],
  [["verify", "stripe", "--request", "nowhere.http"], /--request nowhere\.http can't be read \(ENOENT\)/],
  [["verify", "stripe", "--request", "x.http", "--now", "soon"], /--now is "soon"; write seconds since 1970/],
  [["verify", "--vectors", "README.md"], /--vectors README\.md: it holds no vectors/],
  [["send", "--times", "0"], /--times is "0"/],
  [["send", "--url", "localhost:3000"], /--url is "localhost:3000"; write it as in http:/],
  [
    ["send", "--type", "a.b", "--file", "package.json"],
    /--type: hmac has it in the body, which is package.json/,
  ],
];

test("wrong usage is exit code 2, one sentence on stderr, nothing on stdout", async () => {
  const env = { REDIS_URL, WEBHOOK_SECRET: "a-secret-of-the-tests" };
  for (const [args, message] of wrongUsage) {
    const { code, stdout, stderr } = await runHere(args, { env });
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    if (!stderr.startsWith("Usage:")) expect(stderr).toMatch(/^anvil: [^\n]+\n$/);
  }
  expect(await anvil(["worker"], { env })).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^anvil: worker needs --handlers FILE: [^\n]+\n$/),
  });
});

const failures: [args: string[], env: Record<string, string>, message: RegExp][] = [
  [
    ["stats"],
    { REDIS_URL },
    /^anvil: Redis at 127\.0\.0\.1:1 .*ECONNREFUSED.*; start it, or name another with REDIS_URL$/,
  ],
  [["stats"], { REDIS_URL: "localhost:6379" }, /^anvil: REDIS_URL: is no Redis URL/],
  [["stats"], { REDIS_URL, ANVIL_QUEUE: "a b" }, /^anvil: queue "a b": .*ANVIL_QUEUE/],
  [["stats"], { REDIS_URL, ANVIL_CONFIG: "no.ts" }, /^anvil: ANVIL_CONFIG names no\.ts, which doesn't exist/],
  [["ingress"], { REDIS_URL }, /^anvil: WEBHOOK_SECRET is not set/],
  [["ingress"], { REDIS_URL, WEBHOOK_SECRET: "a-secret-of-the-tests", PORT: "web" }, /^anvil: PORT is "web"/],
  [["demo"], { REDIS_URL, PORT: "0" }, /^anvil: Redis at 127\.0\.0\.1:1 .*; start it/],
  [["replay", `wh_${"0".repeat(32)}`], { REDIS_URL }, /^anvil: Redis at 127\.0\.0\.1:1/],
];

test("a failure is exit code 1 and one sentence on stderr", async () => {
  await Promise.all(
    failures.map(async ([args, env, message]) => {
      const { code, stderr } = await runHere(args, { env });
      expect({ args, env, code }).toEqual({ args, env, code: 1 });
      expect(stderr).toMatch(/^anvil: [^\n]+\n$/);
      expect(stderr.trimEnd()).toMatch(message);
    }),
  );
});

test("a failure says the same as a process, repeats no password, and shows a stack with ANVIL_DEBUG=1 only", async () => {
  const env = { REDIS_URL: "redis://user:hush@127.0.0.1:1" };
  const [plain, debug] = await Promise.all([
    anvil(["stats"], { env }),
    anvil(["stats"], { env: { ...env, ANVIL_DEBUG: "1" } }),
  ]);
  expect(plain).toMatchObject({ code: 1, stdout: "" });
  expect(plain.stderr).toMatch(/^anvil: Redis at 127\.0\.0\.1:1 [^\n]+\n$/);
  expect(debug.stderr).toMatch(/\n {4}at /);
  expect(plain.stderr + debug.stderr).not.toContain("hush");
});

test("several problems of a configuration are a line each, and no secret is in them", async () => {
  const { code, stderr } = await runHere(["ingress"], {
    env: {
      REDIS_URL,
      WEBHOOK_SECRET: '"hush-hush"',
      WEBHOOK_SECRET_PREVIOUS: "hush",
      ANVIL_RETRY_SCHEDULE: "1s,soon",
    },
  });
  expect(code).toBe(1);
  expect(stderr.trimEnd().split("\n").sort()).toEqual([
    expect.stringMatching(/^anvil: ANVIL_RETRY_SCHEDULE: "soon" is no delay/),
    expect.stringMatching(/^anvil: WEBHOOK_SECRET is in quotes/),
    expect.stringMatching(/^anvil: WEBHOOK_SECRET_PREVIOUS is shorter/),
  ]);
  expect(stderr).not.toContain("hush");
});
