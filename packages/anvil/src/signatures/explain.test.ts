import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { explainRequest } from "./explain.ts";
import { type ProviderName, providers } from "./providers/index.ts";
import { readVector, type Vector, verifyVector } from "./vectors.ts";

const path = new URL("../../../../test/fixtures/signatures.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(path, "utf8")) as { vectors: readonly Vector[] };
const signed = vectors.filter(({ kind }) => kind === undefined);

async function explained(vector: Vector) {
  const { secret, cert_pem: certificate } = vector;
  // Any topic of SNS, where the vector names none.
  const none = vector.provider === "aws-sns" ? "*" : "";
  const text = typeof secret === "string" ? secret || none : JSON.stringify(secret);
  const explanation = await explainRequest(vector.provider as ProviderName, readVector(vector), {
    secrets: [text],
    now: vector.now * 1_000,
    ...(certificate === undefined ? {} : { fetchKey: async () => certificate }),
  });
  return { secret: text, explanation };
}

test("every vector gets the verdict that it has without an explanation, and checks that agree with it", async () => {
  for (const vector of signed) {
    const { explanation } = await explained(vector);
    const { verdict, checks } = explanation;
    expect({ id: vector.id, verdict }).toEqual({ id: vector.id, verdict: await verifyVector(vector) });
    const failed = checks.filter(({ state }) => state === "failed");
    expect({ id: vector.id, failed: failed.length > 0 }).toEqual({ id: vector.id, failed: !verdict.ok });
    if (verdict.ok) expect(new Set(checks.map(({ state }) => state))).toEqual(new Set(["passed"]));
    // What comes after the first failure isn't known, but for the secret's form.
    const after = checks.slice(checks.indexOf(failed[0] as (typeof checks)[number]) + 1);
    if (failed.length > 0) {
      expect({
        id: vector.id,
        after: after.filter(({ name, state }) => name !== "key" && state === "passed"),
      }).toEqual({
        id: vector.id,
        after: [],
      });
    }
  }
});

test("no secret and no signature is in an explanation", async () => {
  for (const vector of signed) {
    const { explanation, secret } = await explained(vector);
    const text = JSON.stringify(explanation.checks);
    if (secret.length > 3) expect(text, vector.id).not.toContain(secret);
    for (const value of Object.values(vector.headers).flat()) {
      for (const part of value.split(/[\s,;=]/))
        if (part.length > 30) expect(text, vector.id).not.toContain(part);
    }
  }
});

test("without a secret in the right form, what the headers tell is told all the same", async () => {
  for (const [name, state] of [
    ["standard-webhooks", "passed"],
    ["mailgun", "not_reached"],
  ] as const) {
    const vector = signed.find(({ provider, valid }) => provider === name && valid) as Vector;
    const explanation = await explainRequest(name, readVector(vector), {
      secrets: [],
      now: vector.now * 1_000,
    });
    expect(explanation.verdict).toEqual({ ok: false, reason: "no_key" });
    const states = Object.fromEntries(explanation.checks.map((check) => [check.name, check.state]));
    expect(states).toMatchObject({
      signature: state,
      form: state,
      timestamp: state,
      key: "failed",
      match: "not_reached",
    });
  }
});

test("each provider has its checks, in words", async () => {
  for (const provider of providers.values()) {
    const { checks } = await explainRequest(provider, { headers: {}, body: "" }, { secrets: [], now: 0 });
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["signature", "form", "key", "match"]),
    );
    for (const { expected } of checks) expect(expected, provider.name).not.toMatch(/undefined|\[object|^$/);
  }
});
