import { describe, expect, it } from "vitest";
import { env } from "./config.ts";
import { redisUrlFrom } from "./environment.ts";
import { ConfigError } from "./errors.ts";

describe("redisUrlFrom", () => {
  it("takes REDIS_URL out of the environment that it is given", () => {
    expect(redisUrlFrom({ REDIS_URL: "redis://queue:6379" })).toBe("redis://queue:6379");
  });

  it.each([undefined, ""])("refuses %j, naming the variable", (REDIS_URL) => {
    expect(() => redisUrlFrom({ REDIS_URL })).toThrow(ConfigError);
    expect(() => redisUrlFrom({ REDIS_URL })).toThrow("REDIS_URL is not set");
  });
});

describe("env", () => {
  it("is a reference, read when the process starts and not here", () => {
    expect(env("WEBHOOK_SECRET")).toEqual({ env: "WEBHOOK_SECRET" });
  });
});
