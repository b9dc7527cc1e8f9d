import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNeverRepeated } from "./fields.ts";
import { keyOf } from "./fixtures.ts";
import { formOf, sortedForm } from "./form.ts";
import { headerLookup } from "./headers.ts";
import { valuesAt } from "./json-path.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers/index.ts";
import { KeyUnavailable } from "./schemes/engine.ts";
import { everySender, NOW_MS, type RowSender, receivedFrom, senderOf } from "./schemes/fixtures.ts";
import { keyedSchemes, schemesOf } from "./schemes/index.ts";
import { signsUrl } from "./schemes/traits.ts";
import type { SignedRequest } from "./sign.ts";
import { verifyReceived } from "./verify.ts";

async function judge(
  { provider, secret, fetchKey }: RowSender,
  request: SignedRequest,
  { nowMs = NOW_MS, method = "POST" } = {},
) {
  const schemes = keyedSchemes(provider, [secret]);
  return verifyReceived(provider, schemes, receivedFrom(request, method), { nowMs, fetchKey });
}

/** A certificate that isn't there is no verdict, and accepts nothing. */
async function accepts(one: RowSender, request: SignedRequest, method?: string): Promise<boolean> {
  try {
    return (await judge(one, request, method ? { method } : {})).ok;
  } catch (error) {
    if (error instanceof KeyUnavailable) return false;
    throw error;
  }
}

/** The header that holds the signature or token, and those that are signed with it. */
function signedHeaders(provider: Provider): { signature: string[]; beside: string[] } {
  const own: Partial<Record<string, { signature: string[]; beside: string[] }>> = {
    twilio: { signature: ["x-twilio-signature"], beside: [] },
    contentful: {
      signature: ["x-contentful-signature"],
      beside: ["x-contentful-signed-headers", "x-contentful-timestamp", "x-contentful-topic"],
    },
    paypal: {
      signature: ["paypal-transmission-sig"],
      beside: ["paypal-transmission-id", "paypal-transmission-time", "paypal-cert-url", "paypal-auth-algo"],
    },
  };
  const [scheme] = schemesOf(provider);
  if (!scheme || own[scheme.kind]) return own[scheme?.kind ?? ""] ?? { signature: [], beside: [] };
  if (scheme.kind === "jwt") return { signature: [scheme.header], beside: [] };
  if (scheme.kind === "token") {
    return { signature: "header" in scheme.from ? [scheme.from.header] : [], beside: [] };
  }
  if (!("message" in scheme)) return { signature: [], beside: [] };
  const named = [...String(scheme.message).matchAll(/\{header:([^}]+)\}/g)].map(([, name]) => name as string);
  const from = scheme.timestamp?.from;
  const timestamp = from && "header" in from ? [from.header] : [];
  const { signature } = scheme;
  const header = "header" in signature ? signature.header + ("numbered" in signature ? "-1" : "") : undefined;
  return { signature: header ? [header] : [], beside: [...named, ...timestamp] };
}

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
};
/** A field that is missing is signed as an empty one. */
const pick = (bytes: Uint8Array, paths: readonly string[]) =>
  JSON.stringify(paths.map((path) => valuesAt(parsed(bytes), path).map((value) => value ?? "")));

const FORM = { header: headerLookup({ "content-type": "application/x-www-form-urlencoded" }) };
const ADYEN_ITEM = "notificationItems[].NotificationRequestItem";

/**
 * Which providers leave part of the body unsigned, and what is left of it that counts. All others sign every byte.
 * See "Partial coverage" and each row in the facts about signatures, and the rows' own docs.
 */
const COUNTS: Readonly<Record<string, (body: Uint8Array) => string>> = {
  // A token proves the sender, and nothing of the body.
  telegram: () => "",
  okta: () => "",
  auth0: () => "",
  datadog: () => "",
  chargebee: () => "",
  // The token stands in every item; the rest of them is proven by nothing.
  "microsoft-graph": (body) => pick(body, ["value[].clientState"]),
  // A time and a token are signed; the event isn't.
  mailgun: (body) => pick(body, ["signature.timestamp", "signature.token", "signature.signature"]),
  // Eight fields of each item.
  adyen: (body) =>
    pick(
      body,
      [
        "pspReference",
        "originalReference",
        "merchantAccountCode",
        "merchantReference",
        "amount.value",
        "amount.currency",
        "eventCode",
        "success",
        "additionalData.hmacSignature",
      ].map((path) => `${ADYEN_ITEM}.${path}`),
    ),
  // The named values, however the JSON is spelt.
  "aws-sns": (body) =>
    pick(body, [
      ..."Message,MessageId,Subject,Timestamp,TopicArn,Type".split(","),
      ..."Signature,SignatureVersion,SigningCertURL".split(","),
    ]),
  // A form's names and values, however they are escaped.
  twilio: (body) => sortedForm(formOf({ body, ...FORM })),
  mandrill: (body) => sortedForm(formOf({ body, ...FORM })),
  // Two fields of the form; hex in either case.
  braintree: (body) => {
    const form = formOf({ body, ...FORM });
    const [owner, hex = ""] = (form.get("bt_signature") ?? "").split("|");
    return JSON.stringify([owner, hex.toLowerCase(), form.get("bt_payload")]);
  },
};

const text = fc
  .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 })
  .filter((id) => !/[.,:\s]/.test(id));
const event = fc.record({ id: text.map((id) => `x${id}x`), note: fc.string({ unit: "grapheme" }) });
const change = fc.record({ at: fc.nat(), xor: fc.integer({ min: 1, max: 255 }) });

function changed(bytes: Uint8Array, { at, xor }: { at: number; xor: number }): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const index = at % copy.length;
  copy[index] = (copy[index] as number) ^ xor;
  return copy;
}

/** Another character at one place. Undefined where it says the same: hex and prefixes may come in either case. */
function respelt(value: string, at: number, other: string): string | undefined {
  const index = at % value.length;
  if (value[index]?.toLowerCase() === other.toLowerCase()) return undefined;
  const result = value.slice(0, index) + other + value.slice(index + 1);
  return result.trim() === value.trim() ? undefined : result;
}

const printable = fc.stringMatching(/^[!-~]$/);
const runs = { numRuns: 8 };

describe.each(everySender)("%s", (name, one) => {
  const { provider } = one;
  const { signature, beside } = signedHeaders(provider);

  it("accepts what is signed, whatever is in it", async () => {
    await fc.assert(
      fc.asyncProperty(event, async (made) => {
        expect(await judge(one, one.sign(made))).toMatchObject({ ok: true });
      }),
      runs,
    );
  });

  it("refuses any one changed byte of what is signed in the body", async () => {
    const counts = COUNTS[name];
    await fc.assert(
      fc.asyncProperty(event, change, async (made, how) => {
        const request = one.sign(made);
        const body = changed(request.body, how);
        if (counts && counts(body) === counts(request.body)) return;
        expect(await accepts(one, { ...request, body })).toBe(false);
      }),
      { numRuns: counts ? 50 : 20 },
    );
  });

  it("refuses any one changed character of the signature and of each signed header, and their absence", async () => {
    for (const header of [...signature, ...beside]) {
      const request = one.sign({ id: "made-up" });
      const value = request.headers[header] as string;
      expect(value, header).toBeTypeOf("string");
      const { [header]: _, ...without } = request.headers;
      expect(await accepts(one, { ...request, headers: without }), `without ${header}`).toBe(false);
      await fc.assert(
        fc.asyncProperty(fc.nat(), printable, async (at, other) => {
          const forged = respelt(value, at, other);
          if (forged === undefined) return;
          const headers = { ...request.headers, [header]: forged };
          expect(await accepts(one, { ...request, headers }), `${header}: ${forged}`).toBe(false);
        }),
        { numRuns: 25 },
      );
    }
  });

  if (schemesOf(provider).some(signsUrl)) {
    it("refuses another URL, and none", async () => {
      const request = one.sign({ id: "made-up" });
      expect(await accepts(one, { ...request, url: "" })).toBe(false);
      // Contentful signs the path and the query only.
      const from = name === "contentful" ? request.url.indexOf("/webhooks") : 0;
      await fc.assert(
        fc.asyncProperty(fc.nat(), printable, async (at, other) => {
          const forged = respelt(request.url.slice(from), at, other);
          if (forged === undefined) return;
          expect(await accepts(one, { ...request, url: request.url.slice(0, from) + forged })).toBe(false);
        }),
        { numRuns: 25 },
      );
    });
  }

  it("gives two events two keys, and a redelivery the key of its event", async () => {
    const neverRepeated = isNeverRepeated(provider);
    await fc.assert(
      fc.asyncProperty(event, event, async (a, b) => {
        if (neverRepeated) return;
        const first = one.sign(a);
        const second = one.sign(a.id === b.id ? { ...b, id: `${b.id}y` } : b);
        const key = keyOf(await judge(one, first), first.body);
        expect(keyOf(await judge(one, second), second.body)).not.toBe(key);

        // Another time and so another signature, and what providers change in the body when they try again.
        if (provider.identity === undefined) return;
        const again = one.sign({ id: a.id, note: `${a.note}, again` }, NOW_MS + 60_000);
        const verdict = await judge(one, again, { nowMs: NOW_MS + 60_000 });
        expect(keyOf(verdict, again.body)).toBe(key);
      }),
      runs,
    );
  });
});

describe("what a provider leaves unsigned", () => {
  const edit = (request: SignedRequest, from: string, to: string): SignedRequest => {
    const before = new TextDecoder().decode(request.body);
    const after = before.replace(from, to);
    expect(after).not.toBe(before);
    return { ...request, body: new TextEncoder().encode(after) };
  };
  it.each(
    Object.keys(COUNTS).filter((name) => !["aws-sns", "twilio", "mandrill", "braintree"].includes(name)),
  )("%s: whoever has captured a delivery can change that", async (name) => {
    const one = senderOf(name);
    const request = one.sign({ id: "made-up", note: "as it was" });
    expect(await accepts(one, edit(request, "as it was", "changed"))).toBe(true);
  });

  it("is the method, but for HubSpot and Contentful", async () => {
    const signing: string[] = [];
    for (const name of providers.keys()) {
      const one = senderOf(name);
      if (!(await accepts(one, one.sign({ id: "made-up" }), "PUT"))) signing.push(name);
    }
    expect(signing).toEqual(["hubspot", "contentful"]);
  });
});
