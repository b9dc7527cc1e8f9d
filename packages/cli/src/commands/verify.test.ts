import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { type Provider, providers, signRequest } from "webhook-anvil/signatures";
import { runHere } from "../fixtures/run-here.ts";

const CONFIG = `import { defineConfig, env } from "webhook-anvil/config";
export default defineConfig({
  sources: {
    payments: { provider: "stripe", secret: env("STRIPE_SECRET") },
    square: { provider: "square", secret: "a-secret-of-the-tests", url: "https://hooks.example.com/square", identity: "body" },
    one: { provider: "github", secret: "a-secret-of-the-tests" },
    two: { provider: "github", secret: "another-of-the-tests" },
  },
});
`;
const SECRET = "whsec_hush_of_the_tests";
const NOW = 1_764_547_200;

async function place() {
  const folder = await temporaryFolder("verify");
  onTestFinished(() => folder.remove());
  await writeFile(join(folder.path, "anvil.config.ts"), CONFIG);
  const deliver = async (
    name: string,
    secret: string,
    { url = "", arrived = (body: string) => body } = {},
  ) => {
    const body = Buffer.from('{"id":"evt_1","type":"invoice.paid","customer":"private-thing"}');
    const headers = { "content-type": "application/json" };
    const signed = signRequest(providers.get(name) as Provider, { url, headers, body }, secret, {
      nowMs: NOW * 1_000,
    });
    const lines = Object.entries(signed.headers).map(([header, value]) => `${header}: ${value}\r\n`);
    await writeFile(
      join(folder.path, "delivery.http"),
      `POST /in HTTP/1.1\r\nHost: 10.0.0.1\r\n${lines.join("")}\r\n${arrived(body.toString())}`,
    );
  };
  const verify = (args: string[], env: Record<string, string> = { STRIPE_SECRET: SECRET }) =>
    runHere(["verify", ...args, "--request", "delivery.http", "--now", String(NOW)], {
      cwd: folder.path,
      env,
    });
  return { cwd: folder.path, deliver, verify };
}

test("a right delivery is exit code 0, with the event and what its key is made of", async () => {
  const { deliver, verify } = await place();
  await deliver("stripe", SECRET);
  const { code, stdout, stderr } = await verify(["stripe"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^✓ accepted {2}stripe \(source payments\)/);
  expect(stdout).toMatch(
    /event id +evt_1\n +type +invoice\.paid\n +dedupe key +of the source "payments" and the event id, from id of the body/,
  );
});

test("a refused one is exit code 1, with each check, why and the next step; no secret, signature or body", async () => {
  const { deliver, verify } = await place();
  await deliver("stripe", SECRET, { arrived: (body) => JSON.stringify(JSON.parse(body), null, 2) });
  const { code, stdout } = await verify(["stripe"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ refused: wrong_signature/);
  expect(stdout).toMatch(/✓ signature .*\n[\s\S]*✓ timestamp .*\n[\s\S]*✗ match /);
  expect(stdout).toMatch(/✓ It verifies when the body's JSON is printed without white space/);
  expect(stdout).toMatch(/\nNext\n {2}→ /);
  const json = await verify(["stripe", "--json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    provider: "stripe",
    source: "payments",
    reason: "wrong_signature",
    checks: expect.arrayContaining([expect.objectContaining({ name: "match", state: "failed" })]),
    passesWith: [{ change: expect.stringContaining("without white space") }],
  });
  expect(stdout + json.stdout).not.toMatch(/hush|private-thing|[0-9a-f]{64}/);
});

test("the secret comes from a source, or a variable that is named, and from nowhere else", async () => {
  const { deliver, verify } = await place();
  await deliver("github", "another-of-the-tests");
  expect(await verify(["github"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/one, two are sources of github; name one with --source/),
  });
  expect((await verify(["github", "--source", "two"])).code).toBe(0);
  expect((await verify(["github", "--source", "one"])).code).toBe(1);
  expect(await verify(["github", "--source", "payments"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no source "payments" of github'),
  });
  expect(await verify(["slack"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no source of slack; name the variable"),
  });
  expect((await verify(["github", "--secret-env", "GH"], { GH: "another-of-the-tests" })).code).toBe(0);
  const mistaken = await verify(["github", "--secret-env", "another-of-the-tests"]);
  expect(mistaken.code).toBe(2);
  expect(mistaken.stderr).not.toContain("another-of-the-tests");
  expect(await verify(["nobody"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no provider "nobody"'),
  });
  expect(await verify(["stripe"], {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("STRIPE_SECRET is not set"),
  });
});

test("the URL is the source's, or the one that is given", async () => {
  const { deliver, verify } = await place();
  await deliver("square", "a-secret-of-the-tests", { url: "https://hooks.example.com/square" });
  const { code, stdout } = await verify(["square"]);
  expect(code).toBe(0);
  expect(stdout).toContain('dedupe key  of the source "square" and the SHA-256 of the body');
  const other = await verify(["square", "--url", "https://hooks.example.com/other"]);
  expect(other.code).toBe(1);
  const guessed = await verify(["square", "--secret-env", "SQ"], { SQ: "a-secret-of-the-tests" });
  expect(guessed.stdout).toMatch(/put together from the request;[\s\S]*--url/);
});

test("--vectors prints one object, and fails when one of them does", async () => {
  const { cwd } = await place();
  const fixture = await runHere(["verify", "--vectors", "test/fixtures/signatures.json", "--json"]);
  expect(fixture).toMatchObject({ code: 0, stderr: "" });
  expect(fixture.stdout).toMatch(/^\{"passed":\d{3,},"failed":0,"skipped":1,"failures":\[\]\}\n$/);
  await writeFile(join(cwd, "odd.json"), '{"vectors":[{"id":"a-1","provider":"stripe"}]}');
  const odd = await runHere(["verify", "--vectors", "odd.json", "--json"], { cwd });
  expect(odd).toEqual({
    code: 1,
    stdout: '{"passed":0,"failed":1,"skipped":0,"failures":["a-1"]}\n',
    stderr: "",
  });
  const read = await runHere(["verify", "--vectors", "odd.json"], { cwd });
  expect(read.stdout).toBe("0 passed, 1 failed, 0 skipped\n  ✗ a-1\n");
});
