import { createHmac } from "node:crypto";
import { spawnNode, startRedis } from "anvil-testkit";
import type { Context } from "aws-lambda";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { functionUrlEvent } from "../test/ingress/function-url-event.ts";

const SECRET = "made-up-secret-of-the-tests";
const context = { awsRequestId: "made-up" } as Context;

beforeEach(() => {
  vi.resetModules();
  for (const method of ["log", "warn", "error"] as const)
    vi.spyOn(console, method).mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function signed(body: string) {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  return functionUrlEvent({
    method: "POST",
    path: "/webhooks",
    headers: { "x-signature": `sha256=${signature}` },
    body,
    isBase64Encoded: false,
  });
}

describe("the ingress function", () => {
  it("H-29 and H-30: stores a signed delivery before it answers, over one connection", async () => {
    const redis = await startRedis();
    const lambda = spawnNode({
      entry: "test/processes/invoke-ingress.ts",
      env: {
        REDIS_URL: redis.url,
        WEBHOOK_SECRET: SECRET,
        EVENTS: JSON.stringify([1, 2, 3, 4, 5].map((n) => signed(`{"n":${n}}`))),
      },
    });
    await lambda.waitForLine(/^all answered$/);
    // Frozen right after the last answer, as a sandbox is.
    lambda.signal("SIGSTOP");
    const answers = [...lambda.stdout().matchAll(/^answer (.*)$/gm)].map((match) =>
      JSON.parse(match[1] as string),
    );
    expect(answers.map((answer) => answer.statusCode)).toEqual([202, 202, 202, 202, 202]);
    const client = new Redis(redis.url);
    for (const { body } of answers) {
      expect(await client.exists(`{anvil}:webhooks:${(JSON.parse(body) as { jobId: string }).jobId}`)).toBe(
        1,
      );
    }
    expect(String(await client.client("LIST")).match(/name=anvil-ingress/g)).toHaveLength(1);
    client.disconnect();
  });

  for (const [what, env, named] of [
    ["WEBHOOK_SECRET unset", { REDIS_URL: "redis://127.0.0.1:1" }, "WEBHOOK_SECRET is not set"],
    [
      "WEBHOOK_SECRET empty",
      { REDIS_URL: "redis://127.0.0.1:1", WEBHOOK_SECRET: "" },
      "WEBHOOK_SECRET is empty",
    ],
    [
      "WEBHOOK_SECRET blank",
      { REDIS_URL: "redis://127.0.0.1:1", WEBHOOK_SECRET: "  \n" },
      "WEBHOOK_SECRET is empty",
    ],
    ["REDIS_URL unset", { WEBHOOK_SECRET: SECRET }, "REDIS_URL is not set"],
  ] as const) {
    it(`takes nothing with ${what}`, async () => {
      vi.stubEnv("REDIS_URL", undefined);
      vi.stubEnv("WEBHOOK_SECRET", undefined);
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      const { handler } = await import("./ingress.ts");
      await expect(async () => handler(signed("{}"), context)).rejects.toThrow(named);
    });
  }
});
