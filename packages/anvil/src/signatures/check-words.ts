import type { ClaimedTime } from "./claimed-time.ts";
import type { Check, CheckName } from "./explain.ts";
import type { Provider, Scheme, Timestamp } from "./provider.ts";
import type { Received } from "./received.ts";
import { describeScheme, timestampOf } from "./schemes/description.ts";
import { schemesOf } from "./schemes/index.ts";
import { decodeSignature } from "./schemes/signature-encoding.ts";
import { readClaimedSignature } from "./schemes/signature-header.ts";
import { secretForm } from "./schemes/traits.ts";

type Words = Pick<Check, "expected" | "found">;

/** The words of each check. What a token scheme receives is the secret: nothing of it is told. */
export function wordsOf(
  provider: Provider,
  scheme: Scheme,
  received: Received,
  { nowMs, claimed, keys }: { nowMs: number; claimed: ClaimedTime; keys: number },
): (name: CheckName, state: Check["state"]) => Words {
  const { place, form, signed } = describeScheme(scheme);
  return (name, state) => {
    const failed = state === "failed";
    switch (name) {
      case "signature":
        return {
          expected: schemesOf(provider)
            .map((each) => describeScheme(each).place)
            .filter(distinct)
            .join(", or "),
          ...(failed ? { found: "it isn't there, or is empty" } : { found: place }),
        };
      case "form":
        return { expected: form, ...foundForm(scheme, received, state) };
      case "timestamp":
        return { expected: timeWords(scheme), ...foundTime(claimed, nowMs) };
      case "topic":
        return { expected: "the topic of the source's secret" };
      case "certificate":
        return { expected: "a certificate from one of the provider's hosts, valid now" };
      case "url":
        return {
          expected: "the public URL, as the provider was given it, is signed",
          found: received.url === "" ? "no URL is known" : received.url,
        };
      case "parts":
        return {
          expected: `signed with it: ${signedParts(scheme).join(", ") || "what stands in the body"}`,
          ...(failed ? { found: "missing, or in a form in which it could be read in two ways" } : {}),
        };
      case "key":
        return {
          expected: `a secret that is ${secretForm(provider)}`,
          found: failed ? "none is in this form" : `${keys} to try`,
        };
      case "match":
        return { expected: signed, ...(failed ? { found: "another signature" } : {}) };
      case "body":
        return {
          expected: "the body's hash is the token's claim",
          ...(failed ? { found: "another hash: the body isn't the one that was signed" } : {}),
        };
    }
  };
}

function distinct(text: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(text) === index;
}

function foundForm(scheme: Scheme, { header }: Received, state: Check["state"]): { found?: string } {
  if (
    state === "not_reached" ||
    (scheme.kind !== "hmac" && scheme.kind !== "public-key") ||
    "field" in scheme.signature
  )
    return {};
  const { signature } = scheme;
  const claimed = readClaimedSignature({ signature }, header);
  if (claimed.ok) {
    const count = claimed.candidates.length;
    const sizes = claimed.candidates.map((bytes) => `${bytes.length}`).filter(distinct);
    return { found: `${count} signature${count === 1 ? "" : "s"} of ${sizes.join(" and ")} bytes` };
  }
  return { found: shapeOf(header(signature.numbered ? `${signature.header}-1` : signature.header) ?? "") };
}

/** What a text looks like, without the text. */
function shapeOf(text: string): string {
  const prefix = /^[a-z][a-z0-9]{0,11}[=,]/i.exec(text)?.[0] ?? "";
  const rest = text.slice(prefix.length);
  const kind = decodeSignature(rest, "hex")
    ? "hex"
    : decodeSignature(rest, "base64")
      ? "base64"
      : decodeSignature(rest, "base64url")
        ? "base64url"
        : "neither hex nor base64";
  return `${prefix === "" ? "" : `${prefix} and `}${rest.length} characters, ${kind}`;
}

function timeWords(scheme: Scheme): string {
  if (scheme.kind === "jwt") {
    return scheme.time === "iat"
      ? `iat not older than ${scheme.toleranceS} s`
      : `nbf and exp, with ${scheme.toleranceS} s for clocks that differ`;
  }
  const rule = timestampOf(scheme) as Timestamp;
  const { from, unit, toleranceS } = rule;
  const where =
    "header" in from
      ? `header ${from.header}`
      : "pair" in from
        ? `${from.pair}= of the signature`
        : `${from.body} in the body`;
  const how = { s: "seconds since 1970", ms: "milliseconds since 1970", rfc3339: "a date as in RFC 3339" }[
    unit
  ];
  return `${where}, ${how}${toleranceS === "none" ? "" : `, at most ${toleranceS} s from now`}`;
}

function foundTime({ text, ms }: ClaimedTime, nowMs: number): { found?: string } {
  if (text === undefined) return { found: "none" };
  if (ms === undefined || Math.abs(ms) > 8.64e15)
    return { found: `${text.length} characters that are no such time` };
  const offS = Math.floor(nowMs / 1_000) - Math.floor(ms / 1_000);
  const off = offS === 0 ? "now" : offS > 0 ? `${offS} s before now` : `${-offS} s after now`;
  return { found: `${new Date(ms).toISOString()}, ${off}` };
}

/** Headers and fields that the scheme signs, beside the time and the body. */
export function signedParts(scheme: Scheme): readonly string[] {
  if (scheme.kind === "contentful") return ["the headers that x-contentful-signed-headers lists"];
  if (scheme.kind === "adyen") return ["eight fields of each item, each a text or number"];
  if (scheme.kind !== "hmac" && scheme.kind !== "public-key") return [];
  const { message } = scheme;
  const templates = typeof message === "string" ? [message] : message;
  const parts = templates.flatMap((template) => [...template.matchAll(/\{(header|field):([^}]+)\}/g)]);
  return [
    ...new Set(parts.map(([, kind, name]) => (kind === "header" ? `header ${name}` : `field ${name}`))),
  ];
}
