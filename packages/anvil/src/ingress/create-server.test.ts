import { createHmac } from "node:crypto";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { sharedRedisUrl, startRedis, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { silentLog } from "../contract/log.ts";
import { createServer, type ServerOptions } from "./create-server.ts";

const SECRET = "made-up-secret-of-the-tests";

function problems(options: ServerOptions): readonly string[] {
  try {
    createServer(options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("createServer refuses to start", () => {
  const stripe = { provider: "stripe", secret: "whsec_made_up_for_the_tests" } as const;
  for (const [what, options, named] of [
    ["with nothing", {}, "sources.default.secret: is missing"],
    ["with an unset secret", { secret: undefined }, "sources.default.secret: is missing"],
    [
      "with an unset secret beside sources",
      { secret: undefined, sources: { stripe } },
      "sources.default.secret: is missing",
    ],
    ["with an empty secret", { secret: "" }, "sources.default.secret is empty"],
    ["with no secrets", { secret: [] }, "sources.default.secret: name at least one secret"],
    [
      "with two defaults",
      { secret: SECRET, sources: { default: stripe } },
      "secret: the default source is in sources already",
    ],
    [
      "with two stores",
      { secret: SECRET, redis: "redis://a", upstash: { url: "https://a", token: "b" } },
      "redis and upstash",
    ],
    ["with a deadline of no time", { secret: SECRET, deadlineMs: 0 }, "deadlineMs"],
    ["with a deadline that a timer takes for none", { secret: SECRET, deadlineMs: 2 ** 31 }, "deadlineMs"],
    ["with a Redis URL that is none", { secret: SECRET, redis: "localhost" }, "redis: is no Redis URL"],
  ] as const) {
    it(`${what}`, () => expect(problems(options as ServerOptions).join()).toContain(named));
  }

  it("and names no variable that every object has", () => {
    expect(problems({ secret: { env: "constructor" }, env: {} })).toEqual([
      'constructor is not set (the secret of source "default", provider hmac)',
    ]);
  });
});

describe("a fresh ingress", () => {
  it("sends the script's text once for a burst of deliveries, not once for each", async () => {
    const redis = await startRedis();
    const app = createServer({ secret: SECRET, redis: redis.url, log: silentLog });
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const body = `{"n":${n}}`;
        const headers = { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") };
        return (await app.request("/webhooks", { method: "POST", body, headers })).status;
      }),
    );
    expect(new Set(answers)).toEqual(new Set([202]));
    const client = new Redis(redis.url);
    const stats = await client.info("commandstats");
    expect(stats).toMatch(/cmdstat_eval:calls=1,/);
    expect(stats).toMatch(/cmdstat_evalsha:calls=199,/);
    client.disconnect();
    await app.close();
  });

  it("answers 503 after it was closed, and connects to nothing any more", async () => {
    const prefix = uniquePrefix();
    const app = createServer({ secret: SECRET, redis: sharedRedisUrl(), prefix, log: silentLog });
    expect((await app.request("/readyz")).status).toBe(200);
    await app.close();
    expect((await app.request("/readyz")).status).toBe(503);
  });

  it("answers 400 to a URL with a user and a password in it", async () => {
    const app = createServer({
      secret: SECRET,
      redis: sharedRedisUrl(),
      prefix: uniquePrefix(),
      log: silentLog,
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await new Promise((resolve) => server.once("listening", resolve));
    const status = await new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: (server.address() as AddressInfo).port,
          method: "POST",
          path: "http://somebody:made-up@127.0.0.1/webhooks",
          headers: { "x-signature": createHmac("sha256", SECRET).update("{}").digest("hex") },
        },
        (incoming) => {
          incoming.resume();
          resolve(incoming.statusCode);
        },
      );
      outgoing.on("error", reject);
      outgoing.end("{}");
    });
    expect(status).toBe(400);
    await new Promise((resolve) => server.close(resolve));
    await app.close();
  });
});
