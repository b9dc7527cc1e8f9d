import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { resolveConfig } from "./sources.ts";

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

describe("the durability", () => {
  const durability = (config: object, ANVIL_DURABILITY?: string) =>
    resolveConfig({ ...withSource({}), ...config }, { ANVIL_DURABILITY }).durability;

  it("is the environment's before the configuration's, and memory by default", () => {
    expect(durability({})).toBe("memory");
    expect(durability({ durability: "disk" })).toBe("disk");
    expect(durability({ durability: "disk" }, " replica ")).toBe("replica");
    expect(durability({ durability: "disk" }, "")).toBe("disk");
  });

  it("is refused where it is none", () => {
    expect(problems({ ...withSource({}), durability: "both" })).toEqual([
      'durability: "memory", "replica" or "disk"',
    ]);
    expect(problems(withSource({}), { ANVIL_DURABILITY: "Disk" })).toEqual([
      'ANVIL_DURABILITY: "memory", "replica" or "disk"',
    ]);
  });

  it("beyond memory refuses a window that could end while it is waited for", () => {
    const config = { ...withSource({ dedupeMs: 59_999 }), durability: "disk" };
    expect(problems(config)).toEqual(['sources.default.dedupeMs: at least 60000 with durability "disk"']);
    expect(problems(config, { ANVIL_DURABILITY: "memory" })).toEqual([]);
  });
});
