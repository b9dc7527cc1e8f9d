import { describe, expect, it } from "vitest";
import { AnvilError, ConfigError } from "./errors.ts";

describe("ConfigError", () => {
  it("names one problem in one sentence", () => {
    const error = new ConfigError(["WEBHOOK_SECRET is not set"]);
    expect(error.message).toBe("Configuration: WEBHOOK_SECRET is not set");
    expect(error.problems).toEqual(["WEBHOOK_SECRET is not set"]);
  });

  it("lists several, one in each line", () => {
    expect(new ConfigError(["a is wrong", "b is wrong"]).message).toBe(
      "Configuration, 2 problems:\n  - a is wrong\n  - b is wrong",
    );
  });

  it("is matched on its code, as an AnvilError", () => {
    const error: unknown = new ConfigError(["a"]);
    expect(error).toBeInstanceOf(AnvilError);
    expect(error).toMatchObject({ code: "invalid_config", name: "ConfigError" });
  });
});

describe("AnvilError", () => {
  it("keeps its cause", () => {
    const cause = new Error("ECONNREFUSED");
    expect(new AnvilError("redis_unavailable", "Redis gave no answer", { cause })).toMatchObject({
      code: "redis_unavailable",
      name: "AnvilError",
      cause,
    });
  });
});
