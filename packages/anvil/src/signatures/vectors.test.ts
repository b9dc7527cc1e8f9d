import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { utf8 } from "./fixtures.ts";
import { providers } from "./providers/index.ts";
import { judgeVector, readVector, type Vector, verifyVector } from "./vectors.ts";

const path = new URL("../../../../test/fixtures/signatures.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(path, "utf8")) as { vectors: readonly Vector[] };
const signed = vectors.filter(({ kind }) => kind === undefined);

describe("the published and the official SDKs' vectors", () => {
  it("are all there, for every provider, and each by a name of its own", () => {
    expect(signed).toHaveLength(526);
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
    const covered = new Set(signed.map(({ provider }) => provider));
    // Theirs are in the tests of the scheme: `hmac` is this library's own, and WebSub's hubs sign in the same way.
    expect([...providers.keys()].filter((name) => !covered.has(name))).toEqual(["hmac", "websub"]);
  });

  it.each(signed)("$id: valid is $valid", async (vector) => {
    const verdict = await verifyVector(vector);
    expect(verdict.ok, JSON.stringify(verdict)).toBe(vector.valid);
    if (vector.expected_identity !== undefined) {
      expect(verdict).toMatchObject({ eventId: vector.expected_identity });
    }
  });

  it.each(signed.filter((vector) => vector.body_encoding === "rule"))(
    "$id: the body is built right",
    (vector) => {
      const { body } = readVector(vector);
      expect(body.length).toBe(vector.body_bytes);
      expect(createHash("sha256").update(body).digest("hex")).toBe(vector.body_sha256);
    },
  );

  it.each(vectors.filter(({ kind }) => kind !== undefined))("$id", async (vector) => {
    // Mollie's classic webhooks are unsigned: what they name has to be fetched.
    expect(await judgeVector(vector)).toBe(vector.provider === "mollie" ? "skipped" : "passed");
  });

  it("a body that no encoding explains is an error and no verdict", () => {
    const [first] = signed;
    expect(() => readVector({ ...(first as Vector), body_encoding: "utf16" })).toThrow("no body");
    expect(utf8("x")).toHaveLength(1);
  });
});
