import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { env } from "webhook-anvil/config";

const config = {
  sources: {
    default: { provider: "hmac", secret: env("WEBHOOK_SECRET"), previousSecret: env("OLD_SECRET") },
  },
};

/** What SST linked: an object like the one that it gives to code. test/deploy reads the real thing. */
async function environmentWith(links: object, variables: Record<string, string>) {
  vi.doMock("sst/resource", () => ({ Resource: links }));
  const { functionEnvironment } = await import("./environment.ts");
  return functionEnvironment(config, variables);
}

beforeEach(() => vi.resetModules());
afterEach(() => vi.doUnmock("sst/resource"));

describe("a function's environment", () => {
  it("has each linked secret under the name that the configuration gives it", async () => {
    const links = { WebhookSecret: { value: "linked" }, OldSecret: { value: "" }, Other: { value: "other" } };
    expect(await environmentWith(links, { PATH: "/bin" })).toEqual({
      PATH: "/bin",
      WEBHOOK_SECRET: "linked",
      OLD_SECRET: "",
    });
  });

  it("has the encryption keys, which the configuration names beside the sources", async () => {
    vi.doMock("sst/resource", () => ({ Resource: { EventKey: { value: "linked" } } }));
    const { functionEnvironment } = await import("./environment.ts");
    const encryption = { key: env("EVENT_KEY"), previousKeys: [env("OLD_KEY")] };
    expect(functionEnvironment({ ...config, encryption }, {})).toEqual({ EVENT_KEY: "linked" });
  });

  it("has REDIS_URL from our own Redis, its password percent-encoded, over TLS", async () => {
    const links = {
      Redis: { host: "redis.example.com", port: 6379, username: "default", password: "a&#/@:b" },
    };
    expect(await environmentWith(links, {})).toEqual({
      REDIS_URL: "rediss://default:a%26%23%2F%40%3Ab@redis.example.com:6379",
    });
  });

  it("has Redis's variables from the secrets of a Redis elsewhere", async () => {
    const links = {
      RedisUrl: { value: "rediss://elsewhere" },
      UpstashRedisRestUrl: { value: "https://elsewhere" },
      UpstashRedisRestToken: { value: "token" },
    };
    expect(await environmentWith(links, {})).toEqual({
      REDIS_URL: "rediss://elsewhere",
      UPSTASH_REDIS_REST_URL: "https://elsewhere",
      UPSTASH_REDIS_REST_TOKEN: "token",
    });
  });

  it("keeps a variable that is set", async () => {
    const links = { WebhookSecret: { value: "linked" } };
    expect(await environmentWith(links, { WEBHOOK_SECRET: "set" })).toEqual({ WEBHOOK_SECRET: "set" });
  });

  it("is the environment alone where SST isn't", async () => {
    vi.doUnmock("sst/resource");
    const { functionEnvironment } = await import("./environment.ts");
    expect(functionEnvironment(config, { REDIS_URL: "redis://here" })).toEqual({ REDIS_URL: "redis://here" });
  });
});
