import * as v from "valibot";
import { messageProblem } from "./message.ts";
import type { HmacScheme, Provider } from "./provider.ts";

/**
 * The form of a provider's row, for rows of the user's own: what is missing or misspelt in one would otherwise show
 * as a 500 for each delivery, or as a check that never refuses.
 */
const headerName = v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, "a header's name in lower case"));
const field = v.union(
  [v.strictObject({ header: headerName }), v.strictObject({ body: v.pipe(v.string(), v.nonEmpty()) })],
  'a field is { header: "name" } or { body: "path" }',
);
const pairKey = v.pipe(v.string(), v.regex(/^[^\s=,;]+$/, "the name of a pair"));
const scheme = v.pipe(
  v.strictObject({
    kind: v.literal("hmac"),
    hash: v.picklist(["sha256", "sha1", "sha512"]),
    secret: v.picklist(["utf8", "whsec"]),
    signature: v.strictObject({
      header: headerName,
      encoding: v.picklist(["hex", "base64"]),
      layout: v.variant("kind", [
        v.strictObject({
          kind: v.literal("single"),
          prefix: v.optional(v.string()),
          prefixOptional: v.optional(v.literal(true)),
        }),
        v.strictObject({ kind: v.literal("pairs"), separator: v.picklist([",", ";"]), key: pairKey }),
        v.strictObject({ kind: v.literal("versions"), version: v.pipe(v.string(), v.nonEmpty()) }),
      ]),
    }),
    timestamp: v.optional(
      v.strictObject({
        from: v.union([v.strictObject({ pair: pairKey }), v.strictObject({ header: headerName })]),
        unit: v.picklist(["s", "ms"]),
        toleranceS: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400)),
      }),
    ),
    message: v.string(),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? messageProblem(dataset.value as HmacScheme) : undefined;
    if (problem) addIssue({ message: problem });
  }),
);
const row = v.strictObject({
  name: v.pipe(v.string(), v.nonEmpty()),
  scheme,
  identity: v.optional(v.pipe(v.array(field), v.minLength(1, "name at least one field, or leave it out"))),
  type: v.optional(v.pipe(v.array(field), v.minLength(1, "name at least one field, or leave it out"))),
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
