import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { utf8 } from "./fixtures.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers/index.ts";
import { standardWebhooks } from "./providers/standard-webhooks.ts";
import { secretKey } from "./secret-key.ts";
import { verifyDelivery } from "./verify.ts";

type Vector = {
  readonly id: string;
  readonly provider: string;
  readonly secret: string;
  readonly headers: Record<string, string>;
  readonly now: number;
  readonly valid: boolean;
  readonly expected_identity?: string;
  readonly body_encoding: "utf8" | "base64" | "rule";
  readonly body?: string;
  readonly body_base64?: string;
  readonly body_rule?: { prefix: string; repeat: string; count: number; suffix: string };
  readonly body_sha256?: string;
  readonly body_bytes?: number;
};

const fixture = new URL("../../../../test/fixtures/signatures.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(fixture, "utf8")) as { vectors: Vector[] };

/** Vectors of schemes that are not spoken here, each with the reason. What they send is refused all the same. */
const notSpoken: Record<string, string> = {
  "standard-webhooks-0108-v1a_tampered_body":
    "v1a is Ed25519 under the sender's public key; the scheme here is v1, HMAC under the shared secret",
};

/** Standard Webhooks as Svix first named its headers: a row, no code. */
const svix: Provider = {
  ...standardWebhooks,
  name: "svix",
  scheme: {
    ...standardWebhooks.scheme,
    signature: { ...standardWebhooks.scheme.signature, header: "svix-signature" },
    timestamp: { from: { header: "svix-timestamp" }, unit: "s", toleranceS: 300 },
    message: "{header:svix-id}.{timestamp}.{body}",
  },
  identity: [{ header: "svix-id" }],
};

function providerOf(vector: Vector): Provider {
  const provider = vector.provider === "svix" ? svix : providers.get(vector.provider);
  if (!provider) throw new Error(`${vector.id}: no provider ${vector.provider}`);
  return provider;
}

function bodyOf(vector: Vector): Uint8Array {
  if (vector.body_encoding === "base64" && vector.body_base64 !== undefined) {
    return new Uint8Array(Buffer.from(vector.body_base64, "base64"));
  }
  if (vector.body_encoding === "rule" && vector.body_rule) {
    const { prefix, repeat, count, suffix } = vector.body_rule;
    return utf8(prefix + repeat.repeat(count) + suffix);
  }
  if (vector.body_encoding === "utf8" && vector.body !== undefined) return utf8(vector.body);
  throw new Error(`${vector.id}: no body of encoding ${vector.body_encoding}`);
}

function verdict(vector: Vector, key: Uint8Array) {
  const delivery = { headers: vector.headers, body: bodyOf(vector) };
  return verifyDelivery(providerOf(vector), delivery, [key], vector.now * 1000);
}

describe("the published and the official SDKs' vectors", () => {
  const spoken = vectors.filter(({ id }) => !(id in notSpoken));

  it("are all there", () => {
    const counts: Record<string, number> = {};
    for (const { provider, valid } of spoken) {
      const name = `${provider} ${valid ? "accepted" : "refused"}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    expect(counts).toEqual({
      "stripe accepted": 7,
      "stripe refused": 11,
      "github accepted": 5,
      "github refused": 7,
      "standard-webhooks accepted": 9,
      "standard-webhooks refused": 9,
      "svix accepted": 1,
    });
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(spoken.length + Object.keys(notSpoken).length);
  });

  it.each(spoken)("$id: valid is $valid", (vector) => {
    const key = secretKey(vector.secret, providerOf(vector).scheme.secret);
    const result = verdict(vector, key as Uint8Array);
    expect(result.ok).toBe(vector.valid);
    if (vector.expected_identity !== undefined) {
      expect(result).toMatchObject({ eventId: vector.expected_identity });
    }
  });

  it.each(vectors.filter((vector) => vector.body_encoding === "rule"))(
    "$id: the body is built right",
    (vector) => {
      const body = bodyOf(vector);
      expect(body.length).toBe(vector.body_bytes);
      expect(createHash("sha256").update(body).digest("hex")).toBe(vector.body_sha256);
    },
  );

  it.each(Object.entries(notSpoken))("%s is refused: %s", (id) => {
    const vector = vectors.find((candidate) => candidate.id === id) as Vector;
    expect(verdict(vector, utf8("any key at all"))).toEqual({ ok: false, reason: "missing_signature" });
    // The sender's public key can't be taken for the HMAC secret, which anyone could then sign with.
    expect(secretKey(vector.secret, "whsec")).toBeUndefined();
  });
});
