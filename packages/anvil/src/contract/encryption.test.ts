import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keyIdOf } from "./cipher.ts";
import { env } from "./config.ts";
import { resolveEncryption } from "./encryption.ts";
import type { Environment } from "./environment.ts";

const bytes = randomBytes(32);
const KEY = bytes.toString("base64");
const OTHER = randomBytes(32).toString("base64");
const idOf = (text: string) => keyIdOf(Buffer.from(text, "base64"));

function resolved(setting: unknown, environment: Environment = {}) {
  const problems: string[] = [];
  return { cipher: resolveEncryption(setting, environment, problems), problems };
}

describe("the setting encryption", () => {
  it("is off where it isn't there", () => {
    expect(resolved(undefined)).toEqual({ cipher: undefined, problems: [] });
  });

  it.each([
    ["base64", KEY],
    ["base64 without padding", KEY.replace("=", "")],
    ["base64url", bytes.toString("base64url")],
  ])("takes a key in %s", (_, key) => {
    const { cipher, problems } = resolved({ key });
    expect(problems).toEqual([]);
    expect(cipher?.keyId).toBe(keyIdOf(bytes));
  });

  it("reads keys from the environment; an older one may be unset", () => {
    const setting = { key: env("K"), previousKeys: [env("OLD"), env("OLDER"), OTHER] };
    expect(resolved(setting, { K: KEY, OLD: "" }).cipher?.keyIds).toEqual([idOf(KEY), idOf(OTHER)]);
  });

  it("has a current key, or encrypts no more", () => {
    const { cipher } = resolved({ previousKeys: [env("OLD")] }, { OLD: KEY });
    expect([cipher?.keyId, cipher?.keyIds]).toEqual([undefined, [idOf(KEY)]]);
    // What was switched off and has no older events left.
    expect(resolved({ previousKeys: [env("OLD")] })).toMatchObject({ problems: [] });
  });

  it.each<[string, unknown, Environment, string]>([
    ["a key that is not set", { key: env("K") }, {}, "K is not set"],
    ["an empty key", { key: env("K") }, { K: "" }, "K is empty"],
    ["a key that was left undefined", { key: undefined }, {}, "encryption.key: is missing"],
    ["no key at all", {}, {}, "encryption: give a key, or the previousKeys"],
    ["a key with a newline", { key: env("K") }, { K: `${KEY}\n` }, "K has white space around it"],
    ["a key in hex", { key: env("K") }, { K: bytes.toString("hex") }, "K is not base64 of 32 random bytes"],
    [
      "a key of 16 bytes",
      { key: randomBytes(16).toString("base64") },
      {},
      "encryption.key is not base64 of 32",
    ],
    [
      "a key of 33 bytes",
      { key: randomBytes(33).toString("base64") },
      {},
      "encryption.key is not base64 of 32",
    ],
    ["a passphrase", { key: "correct horse battery staple" }, {}, "make one with: openssl rand -base64 32"],
    ["zeroes", { key: Buffer.alloc(32).toString("base64") }, {}, "encryption.key is no random key"],
    [
      "a wrong older key",
      { key: KEY, previousKeys: [OTHER, "x"] },
      {},
      "encryption.previousKeys[1] is not base64",
    ],
    [
      "one older key without a list",
      { key: KEY, previousKeys: OTHER },
      {},
      "encryption.previousKeys: a list",
    ],
    ["a key in place of the settings", KEY, {}, "encryption: an object of settings"],
    ["a misspelt setting", { key: KEY, previousKey: OTHER }, {}, "known are key, previousKeys"],
    ["a key as a setting's name", { key: KEY, [OTHER]: 1 }, {}, "known are key, previousKeys"],
    ["a key as a variable's name", { key: { env: OTHER } }, {}, "encryption.key.env: the name of a variable"],
    ["a number", { key: 5 }, {}, "encryption.key: a key is a text or env"],
  ])("refuses %s, and never repeats a key", (_, setting, environment, problem) => {
    const { cipher, problems } = resolved(setting, environment);
    expect(cipher).toBeUndefined();
    expect(problems.join("\n")).toContain(problem);
    for (const secret of [KEY, OTHER, bytes.toString("hex"), "correct horse"]) {
      expect(problems.join("\n")).not.toContain(secret);
    }
  });

  it("says everything that is wrong at once", () => {
    const { problems } = resolved({ key: env("K"), previousKeys: ["x", 5], other: 1 });
    expect(problems).toHaveLength(4);
  });
});
