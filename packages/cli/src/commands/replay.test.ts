import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { anvil } from "../fixtures/anvil-process.ts";

const JOB_ID = `wh_${"0123456789abcdef".repeat(2)}`;

/** Lambda's Invoke, as the AWS SDK calls it: POST /2015-03-31/functions/<name>/invocations. */
async function lambda(answer: { status: number; headers?: Record<string, string>; body: unknown }) {
  const invoked: { path: string; payload: unknown }[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    invoked.push({ path: incoming.url ?? "", payload: JSON.parse(Buffer.concat(chunks).toString()) });
    outgoing.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    outgoing.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "made-up",
    AWS_SECRET_ACCESS_KEY: "made-up",
  };
  return { env, invoked };
}

test("--function has the deployed function replay, without a Redis of ours", async () => {
  const { env, invoked } = await lambda({ status: 200, body: { replayed: true, jobId: JOB_ID } });
  const asked = ["--by", "jane", "--reason", "the bank is back"];
  const done = await anvil(["replay", JOB_ID, "--function", "made-up-replay", ...asked, "--json"], { env });
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(done.stdout)).toEqual({ replayed: true, jobId: JOB_ID });
  expect(invoked).toEqual([
    {
      path: "/2015-03-31/functions/made-up-replay/invocations",
      payload: { jobId: JOB_ID, by: "jane", reason: "the bank is back" },
    },
  ]);
});

test("--function says why nothing was replayed, and exits 1", async () => {
  const { env } = await lambda({
    status: 200,
    body: { replayed: false, jobId: JOB_ID, reason: "not_found" },
  });
  const done = await anvil(["replay", JOB_ID, "--function", "made-up-replay"], { env });
  expect(done).toMatchObject({ code: 1, stdout: "" });
  expect(done.stderr).toContain("not replayed");
});

test.each([
  [
    "there is none of this name",
    {
      status: 404,
      headers: { "x-amzn-errortype": "ResourceNotFoundException" },
      body: { Message: "Function not found" },
    },
    /made-up-replay could not be invoked: Function not found; check the name and the region/,
  ],
  [
    "the caller may not",
    {
      status: 403,
      headers: { "x-amzn-errortype": "AccessDeniedException" },
      body: { Message: "not authorized" },
    },
    /needs lambda:InvokeFunction/,
  ],
  [
    "it fails",
    {
      status: 200,
      headers: { "x-amz-function-error": "Unhandled" },
      body: { errorType: "ConfigError", errorMessage: "REDIS_URL is not set" },
    },
    /made-up-replay failed: REDIS_URL is not set; its log says more/,
  ],
  ["it is another function", { status: 200, body: { ok: true } }, /is it the right one\?/],
])("--function says in one sentence when %s", async (_, answer, sentence) => {
  const { env } = await lambda(answer);
  const done = await anvil(["replay", JOB_ID, "--function", "made-up-replay"], { env });
  expect(done).toMatchObject({ code: 1, stdout: "" });
  expect(done.stderr).toMatch(sentence);
  expect(done.stderr.trim().split("\n")).toHaveLength(1);
});

test("--function and --queue don't go together", async () => {
  const done = await anvil(["replay", JOB_ID, "--function", "made-up-replay", "--queue", "other"]);
  expect(done.code).toBe(2);
});
