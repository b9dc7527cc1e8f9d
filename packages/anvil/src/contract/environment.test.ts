import { describe, expect, it } from "vitest";
import { env } from "./config.ts";
import { isVariableName, redisUrlFrom } from "./environment.ts";
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

describe("a variable's name", () => {
  it.each([
    "WEBHOOK_SECRET",
    "stripe_2",
    "_x",
    "STRIPE_WEBHOOK_SECRET_OF_THE_EU_ACCOUNT_2026",
    "aVeryLongNameOfSomeVariableWithoutDigits",
  ])("may be %s", (name) => expect(isVariableName(name)).toBe(true));

  it.each([
    ["", "a secret"],
    ["whsec_bWFkZS11cA", "with a provider's beginning"],
    ["a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3", "in hex"],
    ["F".repeat(64), "in hex, though it has no digit"],
    ["kX9vQ2mZr7TnB4wLpY6sHd8JfGc3eAu1", "in base64"],
    ["correct-horse", "with a dash"],
  ])("is not %j", (text) => expect(isVariableName(text)).toBe(false));
});
