import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { type ResolvedSource, resolveConfig } from "./sources.ts";

const withSource = (settings: object) => ({
  sources: { default: { provider: "hmac", secret: "made-up-secret", ...settings } },
});

function problems(config: unknown, environment: Record<string, string | undefined> = {}): readonly string[] {
  try {
    resolveConfig(config, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function resolved(settings: object): ResolvedSource {
  return resolveConfig(withSource(settings)).sources.get("default") as ResolvedSource;
}

describe("the limits of a source", () => {
  it("are none by default, and let a burst of a second through where none is named", () => {
    expect(resolved({})).not.toHaveProperty("limits");
    expect(resolved({ limits: {} })).not.toHaveProperty("limits");
    expect(resolved({ limits: { perSecond: 2.5 } }).limits).toEqual({ rate: { perSecond: 2.5, burst: 3 } });
    expect(resolved({ limits: { perSecond: 0.1, waiting: 5 } }).limits).toEqual({
      rate: { perSecond: 0.1, burst: 1 },
      waiting: 5,
    });
    expect(resolved({ limits: { perSecond: 10, burst: 50 } }).limits?.rate?.burst).toBe(50);
  });

  it("are refused all at once where they are wrong", () => {
    const limits = { perSecond: 0, burst: 1.5, waiting: -1, perMinute: 5 };
    expect(problems(withSource({ limits }))).toEqual([
      "sources.default.limits.perSecond: a number above 0, at most 100000",
      "sources.default.limits.burst: a whole number of events from 1 to 100000",
      "sources.default.limits.waiting: a whole number of events from 1 to 1000000",
      "sources.default.limits.perMinute: unknown setting; known are perSecond, burst, waiting",
    ]);
    expect(problems(withSource({ limits: { burst: 5 } }))).toEqual([
      "sources.default.limits.burst: means nothing without perSecond; set both",
    ]);
    for (const wrong of [NaN, Infinity, "5", null, 1e6]) {
      expect(problems(withSource({ limits: { perSecond: wrong } })), String(wrong)).toHaveLength(1);
    }
    expect(problems(withSource({ limits: 5 }))).toEqual(["sources.default.limits: an object of settings"]);
  });
});
