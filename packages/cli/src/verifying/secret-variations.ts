import type { HmacScheme, Provider, Scheme } from "webhook-anvil/signatures";
import type { Variation } from "./variation.ts";

/** Secrets as they may have been meant: the same text in another form, or as it was before a shell had it. */
export function secretVariations(secrets: readonly string[], provider: Provider): Variation[] {
  const found: Variation[] = [];
  const seen = new Set(secrets);
  const add = (change: string, cause: string, of: (secret: string) => string) => {
    const others = secrets.map(of).filter((other) => other !== "" && !seen.has(other));
    if (others.length === 0) return;
    for (const other of others) seen.add(other);
    found.push({ kind: "secret", change, cause, apply: (trial) => ({ ...trial, secrets: others }) });
  };
  add(
    "with the secret without white space around it",
    "The secret was set with white space: set it without",
    (secret) => secret.trim(),
  );
  add(
    "with the secret without its quotes",
    "The secret was set with quotes around it: set it without",
    (secret) => secret.replace(/^(["'`])(.*)\1$/s, "$2"),
  );
  add(
    "with a line break at the secret's end",
    "The sender's own secret ends with a line break, as echo adds one: set it anew there",
    (secret) => `${secret}\n`,
  );
  add("with the secret without its prefix", "The sender uses what stands behind the prefix", (secret) =>
    secret.replace(/^[a-z]{2,8}_/, ""),
  );
  add(
    "with whsec_ in front of the secret",
    "The prefix belongs to the secret: set the whole text",
    (secret) => `whsec_${secret}`,
  );
  add(
    "with the secret written in base64",
    "The sender uses the base64 text of the secret as the key",
    (secret) => Buffer.from(secret).toString("base64"),
  );
  add("with the secret written in hex", "The sender uses the hex text of the secret as the key", (secret) =>
    Buffer.from(secret).toString("hex"),
  );

  const forms = { utf8: "the text that it is", whsec: "base64 of the key", hex: "hex of the key" } as const;
  for (const [form, words] of Object.entries(forms) as [keyof typeof forms, string][]) {
    found.push(
      ...reshaped(
        "secret",
        provider,
        `with the secret taken as ${words}`,
        `The sender takes the secret as ${words}, and ${provider.name} here doesn't: is it another provider's secret, or another provider?`,
        (scheme) => ({ ...scheme, secret: form }),
      ),
    );
  }
  return found;
}

/** Signatures as they may have been meant: written in another way, or with another hash. */
export function schemeVariations(provider: Provider): Variation[] {
  const found: Variation[] = [];
  const { name } = provider;
  for (const encoding of ["hex", "base64", "base64url"] as const) {
    found.push(
      ...reshaped(
        "scheme",
        provider,
        `when the signature is read as ${encoding}`,
        `The sender writes its signature in ${encoding}, which ${name} doesn't: is it really ${name}?`,
        (scheme) => ({ ...scheme, signature: { ...scheme.signature, encoding } }),
      ),
    );
  }
  for (const hash of ["sha256", "sha1", "sha512"] as const) {
    found.push(
      ...reshaped(
        "scheme",
        provider,
        `with ${hash} for the hash`,
        `The sender uses ${hash}, which ${name} doesn't here: a legacy header, or another provider`,
        (scheme) => ({ ...scheme, hash }),
      ),
    );
  }
  found.push(
    ...reshaped(
      "scheme",
      provider,
      "when the signature's prefix is left out",
      "The sender writes the bare digest: is it really this provider, or has something cut the header?",
      (scheme) =>
        "field" in scheme.signature || scheme.signature.layout.kind !== "single"
          ? scheme
          : {
              ...scheme,
              signature: {
                ...scheme.signature,
                layout: { ...scheme.signature.layout, prefixOptional: true },
              },
            },
    ),
    ...reshaped(
      "scheme",
      provider,
      "when the body alone is signed",
      "The sender signs the body and nothing else: it is another provider, or an older scheme of it",
      (scheme) => {
        const { timestamp: _, ...rest } = scheme;
        return { ...rest, message: "{body}", construction: "hmac" };
      },
    ),
  );
  return found;
}

/** The provider's row with each of its HMACs changed; nothing where that changes nothing. */
function reshaped(
  kind: Variation["kind"],
  provider: Provider,
  change: string,
  cause: string,
  reshape: (scheme: HmacScheme) => HmacScheme,
): Variation[] {
  const schemes = (Array.isArray(provider.scheme) ? provider.scheme : [provider.scheme]) as readonly Scheme[];
  const others = schemes.filter((scheme) => scheme.kind === "hmac").map((scheme) => reshape(scheme));
  if (others.length === 0 || JSON.stringify(others) === JSON.stringify(schemes)) return [];
  const { secretProblem: _, ...row } = provider;
  return [{ kind, change, cause, apply: (trial) => ({ ...trial, provider: { ...row, scheme: others } }) }];
}
