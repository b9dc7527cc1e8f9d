import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { hmacOf } from "./fixtures.ts";
import type { Provider } from "./provider.ts";
import { hmac } from "./providers/hmac.ts";
import { resolveConfig } from "./sources.ts";

const SECRET = "made-up-secret";

function problems(config: unknown): readonly string[] {
  try {
    resolveConfig(config);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("a provider of one's own", () => {
  const row: Provider = { ...hmac, name: "made-up", keepHeaders: ["x-made-up"] };
  const withRow = (provider: unknown) => ({ sources: { own: { provider, secret: SECRET } } });

  it("is taken as it is", () => {
    expect(resolveConfig(withRow(row)).sources.get("own")?.provider).toBe(row);
  });

  it("has its own say about its secrets", () => {
    const strict: Provider = { ...row, secretProblem: () => "is not the one" };
    expect(problems(withRow(strict))).toEqual([
      'sources.own.secret is not the one (the secret of source "own", provider made-up)',
    ]);
  });

  it.each([null, 5, [], "unknown", "constructor", () => row])("can't be %s", (provider) => {
    expect(problems(withRow(provider))).toEqual([
      expect.stringMatching(/^sources\.own\.provider: unknown provider; docs\/providers\.md lists them all/),
    ]);
  });

  it.each(["{timestamp}", "{bdy}", "", "{header:x-id}"])(
    "refuses to start when its message %j would leave the body unsigned",
    (message) => {
      expect(problems(withRow({ ...row, scheme: { ...row.scheme, message } }))).toEqual([
        expect.stringMatching(/^sources\.own\.provider\.scheme: /),
      ]);
    },
  );

  const scheme = (change: object) => ({ ...row, scheme: { ...row.scheme, ...change } });
  const signature = (change: object) => scheme({ signature: { ...hmacOf(row).signature, ...change } });
  const timestamp = (change: object) =>
    scheme({
      timestamp: { from: { header: "x-time" }, unit: "s", toleranceS: 300, ...change },
      message: "{timestamp}{body}",
    });
  it.each([
    ["nothing in it", {}, "provider.name: is missing"],
    ["no scheme", { ...row, scheme: undefined }, "provider.scheme: is missing"],
    ["a scheme of null", { ...row, scheme: null }, "provider.scheme: expected Object"],
    ["another kind", scheme({ kind: "rsa" }), 'provider.scheme.kind: expected ("hmac" | "public-key"'],
    ["no hash", scheme({ hash: undefined }), "provider.scheme.hash: is missing"],
    ["a hash that isn't there", scheme({ hash: "md5" }), "provider.scheme.hash: sha256, sha1 or sha512"],
    ["no signature", scheme({ signature: undefined }), "provider.scheme.signature: is missing"],
    [
      "a header in capitals",
      signature({ header: "X-Sig" }),
      "provider.scheme.signature.header: a header's name",
    ],
    [
      "a layout of its own",
      signature({ layout: { kind: "list" } }),
      "provider.scheme.signature.layout.kind: expected",
    ],
    [
      "no tolerance",
      timestamp({ toleranceS: undefined }),
      "provider.scheme.timestamp.toleranceS: is missing",
    ],
    [
      "a tolerance that is no number",
      timestamp({ toleranceS: Number.NaN }),
      "provider.scheme.timestamp.toleranceS: expected",
    ],
    [
      "an endless tolerance",
      timestamp({ toleranceS: Number.POSITIVE_INFINITY }),
      "provider.scheme.timestamp.toleranceS: expected",
    ],
    ["an identity that is a text", { ...row, identity: "id" }, 'provider.identity: expected "each-delivery"'],
    ["an empty identity", { ...row, identity: [] }, "provider.identity: name at least one field"],
    ["a field of nothing", { ...row, identity: [{}] }, "provider.identity.0: a field is"],
    [
      "an empty list of several",
      { ...row, identity: [[{ body: "a" }], []] },
      "provider.identity.1: name at least",
    ],
    [
      "a field among lists",
      { ...row, type: [[{ body: "a" }], { body: "b" }] },
      "provider.type.1: expected Array",
    ],
    [
      "each-delivery before a list",
      { ...row, identity: ["each-delivery", [{ body: "a" }]] },
      "provider.identity: each-delivery can only come last",
    ],
    [
      "each-delivery in a type",
      { ...row, type: [[{ body: "a" }], "each-delivery"] },
      "provider.type.1: expected Array",
    ],
    ["no headers to keep", { ...row, keepHeaders: undefined }, "provider.keepHeaders: is missing"],
    ["a misspelt part", { ...row, identitty: [] }, "provider.identitty: unknown setting"],
  ])("refuses to start with %s", (_, provider, problem) => {
    expect(problems(withRow(provider))).toContainEqual(expect.stringContaining(`sources.own.${problem}`));
  });

  it("repeats no value of a row: a secret may stand in the wrong place", () => {
    const named = problems(
      withRow({ ...scheme({ hash: "made-up-secret" }), name: 5, docs: "made-up-secret" }),
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.join()).not.toContain("made-up-secret");
  });
});
