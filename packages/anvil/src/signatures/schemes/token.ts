import { createHash } from "node:crypto";
import { valuesAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import type { TokenScheme } from "../provider.ts";
import type { Received } from "../received.ts";
import { type Refusal, refuse } from "../verdict.ts";
import type { SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";

const MAX_TOKEN_LENGTH = 8_192;

/** A shared secret that comes along. It proves who sent, and nothing of what. */
export const tokenEngine: SchemeEngine<TokenScheme> = {
  readKey(scheme, secret) {
    if (secret === "" || (scheme.notFor && secret.startsWith(scheme.notFor))) return undefined;
    if (scheme.form !== "basic") return Buffer.from(secret);
    return /^[^:]+:./.test(secret) ? Buffer.from(Buffer.from(secret).toString("base64")) : undefined;
  },

  precheck(scheme, head) {
    if ("body" in scheme.from) return undefined;
    const token = tokenOf(scheme, head.header(scheme.from.header));
    return typeof token === "string" ? undefined : token;
  },

  verify(scheme, received, keys) {
    if ("header" in scheme.from) {
      const token = tokenOf(scheme, received.header(scheme.from.header));
      if (typeof token !== "string") return token;
      return keys.some((key) => sameToken(token, key as Uint8Array))
        ? proof(token)
        : refuse("wrong_signature");
    }
    const tokens = valuesAt(lazyPayload(received)(), scheme.from.body);
    // An empty list has nothing in it that anybody vouches for.
    if (tokens.length === 0 || tokens.every((token) => token === undefined))
      return refuse("missing_signature");
    const texts = tokens.filter((token) => typeof token === "string" && token !== "") as string[];
    if (texts.length < tokens.length) return refuse("malformed_signature");
    const right = texts.every((text) => keys.some((key) => sameToken(text, key as Uint8Array)));
    return right ? proof(texts[0] as string) : refuse("wrong_signature");
  },

  sign({ from, form, prefix = "" }, unsigned, key) {
    const token = Buffer.from(key as Uint8Array).toString();
    if ("header" in from) {
      return { ok: true, headers: { [from.header]: `${form === "basic" ? "Basic " : prefix}${token}` } };
    }
    const body = inEveryItem(unsigned, from.body, token);
    return body ? { ok: true, headers: {}, body } : refuse("missing_signed_part");
  },
};

/** `value[].clientState` of Graph: the token in each item of the list. */
function inEveryItem(unsigned: Received, path: string, token: string): Uint8Array | undefined {
  const [list, name] = path.split("[].");
  const payload = lazyPayload(unsigned)();
  const items = list && name ? valuesAt(payload, `${list}[]`) : [];
  if (!name || !items.every((item) => typeof item === "object" && item !== null)) return undefined;
  for (const item of items as Record<string, unknown>[]) item[name] = token;
  return new TextEncoder().encode(JSON.stringify(payload));
}

function tokenOf({ prefix, form }: TokenScheme, value: string | undefined): string | Refusal {
  if (!value) return refuse("missing_signature");
  if (value.length > MAX_TOKEN_LENGTH) return refuse("malformed_signature");
  const start = form === "basic" ? "basic " : (prefix ?? "").toLowerCase();
  if (value.slice(0, start.length).toLowerCase() !== start) return refuse("malformed_signature");
  return value.slice(start.length);
}

/** Over digests, so that not even the secret's length shows in the time it takes. */
function sameToken(token: string, key: Uint8Array): boolean {
  return equalBytes(sha256(Buffer.from(token)), sha256(key));
}

/** The token is the secret itself and must go no further; its place in the identity is taken by nothing. */
function proof(_token: string): { readonly ok: true; readonly signature: Uint8Array } {
  return { ok: true, signature: new Uint8Array() };
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
