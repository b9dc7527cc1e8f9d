import { describe, expect, it } from "vitest";
import { workerSettings } from "./settings.ts";

describe("the container's settings", () => {
  it("have defaults for all but Redis", () => {
    expect(workerSettings({ REDIS_URL: "redis://made-up" })).toEqual({
      worker: { redis: "redis://made-up", concurrency: 10, drainMs: 25_000 },
      healthPort: 0,
    });
  });

  it("are read from the environment", () => {
    const env = {
      REDIS_URL: "redis://made-up",
      ANVIL_CONCURRENCY: "3",
      ANVIL_DRAIN: "90s",
      HEALTH_PORT: "8080",
    };
    expect(workerSettings(env)).toEqual({
      worker: { redis: "redis://made-up", concurrency: 3, drainMs: 90_000 },
      healthPort: 8080,
    });
  });

  it("are refused all at once", () => {
    const env = { ANVIL_CONCURRENCY: "0", ANVIL_DRAIN: "soon", HEALTH_PORT: "-1" };
    expect(() => workerSettings(env)).toThrow(
      expect.objectContaining({
        problems: [
          expect.stringContaining("ANVIL_CONCURRENCY"),
          expect.stringContaining("HEALTH_PORT"),
          expect.stringContaining("ANVIL_DRAIN"),
          expect.stringContaining("REDIS_URL is not set"),
        ],
      }),
    );
  });
});
