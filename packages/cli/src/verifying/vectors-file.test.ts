import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judgeVectors, readVectors } from "./vectors-file.ts";

const file = readFileSync(new URL("../../../../test/fixtures/signatures.json", import.meta.url));
const vectors = readVectors(file) as Record<string, unknown>[];
const first = (provider: string, valid = true) =>
  vectors.find((vector) => vector.provider === provider && vector.valid === valid) as Record<string, unknown>;

test("the whole fixture, with one that can't authenticate skipped", async () => {
  expect(await judgeVectors(vectors)).toEqual({
    passed: vectors.length - 1,
    failed: 0,
    skipped: 1,
    failures: [],
  });
});

test("a wrong verdict fails by its id, and the others go on", async () => {
  const [right, wrong] = [first("stripe"), { ...first("github"), valid: false }];
  expect(await judgeVectors([wrong, right])).toEqual({
    passed: 1,
    failed: 1,
    skipped: 0,
    failures: [first("github").id],
  });
});

test("nothing that an entry holds stops the others", async () => {
  const { body: _, ...bodiless } = first("stripe");
  const odd = [
    null,
    17,
    {},
    { ...first("stripe"), id: "no-such", provider: "nobody" },
    { ...first("stripe"), id: "no-headers", headers: null },
    { ...first("stripe"), id: "no-secret", secret: null },
    { ...first("stripe", false), id: "no-now", now: "soon" },
    { ...first("stripe"), id: "no-valid", valid: undefined },
    { ...bodiless, id: "no-body" },
    { ...first("stripe"), id: "deep", headers: { "stripe-signature": { a: 1 } } },
    { ...first("stripe"), id: "encoding", body_encoding: "utf16" },
  ];
  expect(await judgeVectors([...odd, first("stripe")])).toEqual({
    passed: 1,
    failed: odd.length,
    skipped: 0,
    failures: [
      "#1",
      "#2",
      "#3",
      "no-such",
      "no-headers",
      "no-secret",
      "no-now",
      "no-valid",
      "no-body",
      "deep",
      "encoding",
    ],
  });
});

test("lists of headers and of secrets, and other names of a provider, are read", async () => {
  const github = first("github");
  const lists = Object.fromEntries(
    Object.entries(github.headers as object).map(([name, value]) => [name, [value]]),
  );
  const entries = [
    { ...github, headers: lists, secret: ["another-secret", github.secret] },
    { ...first("lemonsqueezy"), provider: "Lemon-Squeezy" },
    { ...first("meta"), provider: "whatsapp" },
    { ...first("x"), provider: "twitter" },
    { ...first("aws-sns"), provider: "sns" },
  ];
  expect(await judgeVectors(entries)).toMatchObject({ passed: entries.length, failures: [] });
});

test("a body that isn't the vector's, and another identity than is expected, fail", async () => {
  const stripe = first("stripe");
  const entries = [
    { ...stripe, id: "digest", body_sha256: "0".repeat(64) },
    { ...stripe, id: "length", body_bytes: 1 },
    { ...stripe, id: "identity", expected_identity: "evt_another" },
  ];
  expect((await judgeVectors(entries)).failures).toEqual(["digest", "length", "identity"]);
});

test("a list alone and an object a line are files of vectors, too; anything else isn't", () => {
  expect(readVectors(Buffer.from('[{"id":"a"}]'))).toEqual([{ id: "a" }]);
  expect(readVectors(Buffer.from('{"id":"a"}\n{"id":"b"}\n'))).toEqual([{ id: "a" }, { id: "b" }]);
  for (const text of ["", "{}", "hush", '{"vectors":{}}']) {
    expect(() => readVectors(Buffer.from(text))).toThrow(SyntaxError);
  }
});
