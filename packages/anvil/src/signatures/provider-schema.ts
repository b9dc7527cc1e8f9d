import * as v from "valibot";
import { handshakeNames } from "./handshakes/index.ts";
import type { Provider } from "./provider.ts";
import { messageProblem, type SigningScheme } from "./schemes/message.ts";

/**
 * The form of a provider's row, for rows of the user's own: what is missing or misspelt in one would otherwise show
 * as a 500 for each delivery, or as a check that never refuses.
 */
const headerName = v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, "a header's name in lower case"));
const bodyPath = v.pipe(v.string(), v.nonEmpty());
const field = v.union(
  [
    v.strictObject({ header: headerName }),
    v.strictObject({ body: bodyPath, number: v.optional(v.literal(true)) }),
    v.strictObject({ form: v.pipe(v.string(), v.nonEmpty()) }),
    v.strictObject({ nameBeside: v.array(v.string()) }),
  ],
  'a field is { header: "name" }, { body: "path" }, { form: "name" } or { nameBeside: ["name"] }',
);
const oneList = v.pipe(v.array(field), v.minLength(1, "name at least one field, or leave it out"));
const severalLists = v.pipe(v.array(oneList), v.minLength(1));
const listsOrEach = v.pipe(
  v.array(v.lazy((entry) => (typeof entry === "string" ? v.literal("each-delivery") : oneList))),
  v.check((entries) => !entries.slice(0, -1).includes("each-delivery"), "each-delivery can only come last"),
);
/** By what it holds, so that a mistake is named at its place. */
const isSeveral = (input: unknown): boolean =>
  Array.isArray(input) && input.some((entry) => Array.isArray(entry));
const fields = v.lazy((input) => (isSeveral(input) ? severalLists : oneList));
const identity = v.lazy((input) => {
  if (typeof input === "string") return v.literal("each-delivery");
  return isSeveral(input) ? listsOrEach : oneList;
});
const pairKey = v.pipe(v.string(), v.regex(/^[^\s=,;]+$/, "the name of a pair"));
const hash = v.picklist(["sha256", "sha1", "sha512"]);
const encoding = v.picklist(["hex", "base64", "base64url"]);

const signatureHeader = v.strictObject({
  header: headerName,
  numbered: v.optional(v.literal(true)),
  encoding,
  layout: v.variant("kind", [
    v.strictObject({
      kind: v.literal("single"),
      prefix: v.optional(v.string()),
      prefixOptional: v.optional(v.literal(true)),
    }),
    v.strictObject({ kind: v.literal("pairs"), separator: v.picklist([",", ";"]), key: pairKey }),
    v.strictObject({ kind: v.literal("versions"), version: v.pipe(v.string(), v.nonEmpty()) }),
  ]),
});
const signatureField = v.strictObject({ field: bodyPath, encoding });
const timestamp = v.strictObject({
  from: v.union(
    [
      v.strictObject({ pair: pairKey }),
      v.strictObject({ header: headerName }),
      v.strictObject({ body: bodyPath }),
    ],
    'a timestamp is from { pair: "t" }, { header: "name" } or { body: "path" }',
  ),
  unit: v.picklist(["s", "ms", "rfc3339"]),
  toleranceS: v.lazy((input) =>
    typeof input === "string"
      ? v.literal("none")
      : v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400)),
  ),
});

const hmac = v.strictObject({
  kind: v.literal("hmac"),
  hash: v.union([hash, v.pipe(v.array(hash), v.minLength(1))], "sha256, sha1 or sha512"),
  construction: v.optional(v.picklist(["hmac", "plain"])),
  secret: v.picklist(["utf8", "whsec", "whsec-only", "whsec-or-text", "hex"]),
  // By what it holds, so that a mistake in it is named at its place.
  signature: v.lazy((input) =>
    typeof input === "object" && input !== null && "field" in input ? signatureField : signatureHeader,
  ),
  timestamp: v.optional(timestamp),
  message: v.union([v.string(), v.array(v.string())], "a text with {body} in it"),
});
const publicKey = v.strictObject({
  kind: v.literal("public-key"),
  algorithm: v.picklist(["ed25519", "ecdsa-p256"]),
  key: v.picklist(["hex", "whpk", "spki"]),
  signature: signatureHeader,
  timestamp: v.optional(timestamp),
  message: v.string(),
});
const token = v.strictObject({
  kind: v.literal("token"),
  from: v.union([v.strictObject({ header: headerName }), v.strictObject({ body: bodyPath })]),
  prefix: v.optional(v.string()),
  form: v.optional(v.literal("basic")),
  notFor: v.optional(v.pipe(v.string(), v.nonEmpty())),
});
const jwt = v.strictObject({
  kind: v.literal("jwt"),
  header: headerName,
  prefix: v.optional(v.string()),
  algorithms: v.pipe(v.array(v.picklist(["HS256", "HS384", "HS512", "ES256"])), v.minLength(1)),
  key: v.union([v.literal("utf8"), v.strictObject({ fetch: v.literal("plaid") })]),
  bodyHash: v.strictObject({
    claim: bodyPath,
    encoding: v.picklist(["hex", "base64"]),
    absentWhenEmpty: v.optional(v.literal(true)),
  }),
  urlHash: v.optional(bodyPath),
  time: v.picklist(["iat", "exp"]),
  toleranceS: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(86_400)),
});
const own = v.strictObject({
  kind: v.picklist(["twilio", "adyen", "contentful", "braintree", "paypal", "sns"]),
});

const scheme = v.pipe(
  v.variant("kind", [hmac, publicKey, token, jwt, own]),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || !("message" in dataset.value)) return;
    const problem = messageProblem(dataset.value as SigningScheme);
    if (problem) addIssue({ message: problem });
  }),
);
const row = v.strictObject({
  name: v.pipe(v.string(), v.nonEmpty()),
  scheme: v.lazy((input) => (Array.isArray(input) ? v.pipe(v.array(scheme), v.minLength(1)) : scheme)),
  identity: v.optional(identity),
  type: v.optional(fields),
  once: v.optional(
    v.strictObject({
      body: bodyPath,
      forS: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400)),
    }),
  ),
  handshake: v.optional(v.picklist([...handshakeNames])),
  batch: v.optional(
    v.strictObject({
      list: v.pipe(v.string(), v.regex(/\[\]$/, "the path to a list, as in events[]")),
      identity: v.optional(fields),
      type: v.optional(fields),
    }),
  ),
  acceptedText: v.optional(v.string()),
  keepHeaders: v.array(headerName),
  secretProblem: v.optional(v.function()),
  docs: v.string(),
});

/** Everything that is wrong with a row, each with its place in it. */
export function providerProblems(candidate: unknown): string[] {
  const checked = v.safeParse(row, candidate);
  if (checked.success) return [];
  return checked.issues.map((issue) => {
    const path = v.getDotPath(issue);
    // Never valibot's own message, which repeats the value: a secret may stand in the wrong place.
    const expected = issue.message.startsWith("Invalid") ? `expected ${issue.expected}` : issue.message;
    const unknown = issue.type === "strict_object" && issue.expected === "never";
    const what = unknown ? "unknown setting" : issue.received === "undefined" ? "is missing" : expected;
    return `provider${path ? `.${path}` : ""}: ${what}`;
  });
}

/** Whether a source's `provider` is meant to be a row. */
export function isProviderRow(candidate: unknown): candidate is Provider {
  return typeof candidate === "object" && candidate !== null && !Array.isArray(candidate);
}
