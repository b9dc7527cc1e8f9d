import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonItems } from "./json-items.ts";

/** JSON as somebody may write it: spaces anywhere, escapes of any kind, numbers of any length. */
const space = fc.constantFrom("", " ", "\n", "\t", " \r\n ");
const ESCAPED = "a\\u0062";
const name = fc.oneof(fc.constantFrom("list", "data", "__proto__", "constructor", ESCAPED, ""), fc.string());
const textOf = (value: string) => (value === ESCAPED ? `"${value}"` : JSON.stringify(value));
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "1", "-0", "1e999", "12345678901234567890", "0.10", "1E+2", '""'),
    fc.string().map((value) => JSON.stringify(value)),
    fc.constantFrom('"\\u005b\\"]"', '"\\\\"', '"}\\\\\\""', '"\\ud800"', '"😀"', '"[,]{}"'),
    tie("list"),
    tie("object"),
  ),
  list: fc
    .array(fc.tuple(space, tie("json"), space), { maxLength: 5 })
    .map((items) => `[${items.map((parts) => parts.join("")).join(",")}]`),
  object: fc
    .array(fc.tuple(space, name.map(textOf), space, space, tie("json"), space), { maxLength: 5 })
    .map(
      (members) =>
        `{${members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(",")}}`,
    ),
}));

/** Where the list is, as JSON.parse has it. */
function expected(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    JSON.parse(text),
  );
}

describe("the items of a list in a JSON text", () => {
  it("are the slices of the text that JSON.parse reads them from", () => {
    let items = 0;
    const paths = fc.constantFrom([], ["list"], ["data", "list"], ["__proto__"], ["ab"]);
    fc.assert(
      fc.property(json, json, space, paths, fc.boolean(), (value, before, around, path, inside) => {
        const wrapped = [...path]
          .reverse()
          .reduce((text, key) => `{"x":${before},${textOf(key)}${around}:${text}${around}}`, value);
        const text = `${around}${inside ? wrapped : value}${around}`;
        const found = jsonItems(text, path.length === 0 ? "[]" : `${path.join(".")}[]`);
        const list = expected(text, path);
        if (!Array.isArray(list)) {
          expect(found).toBeUndefined();
          return;
        }
        expect(found?.map((item) => JSON.parse(item) as unknown)).toEqual(list);
        // Slices of the text, in its order: nothing was written anew.
        let at = 0;
        for (const item of found ?? []) {
          at = text.indexOf(item, at);
          expect(at).toBeGreaterThanOrEqual(0);
          at += item.length;
          items += 1;
        }
      }),
      { numRuns: 1_500 },
    );
    expect(items).toBeGreaterThan(300);
  });

  it("never throw, whatever the text and the path", () => {
    const broken = fc.oneof(
      fc.string(),
      json.map((text) => text.slice(0, -1)),
    );
    fc.assert(
      fc.property(broken, fc.string(), (text, path) => void jsonItems(text, path)),
      { numRuns: 500 },
    );
  });

  it("keep numbers, escapes and spaces as they are written", () => {
    const item = '{ "n": 12345678901234567890.10, "t":"\\u00e9\\/]}", "a":[ 1 ,2 ]\n}';
    expect(jsonItems(`{"events" :[${item} , 1E2,"\\"]"]}`, "events[]")).toEqual([item, "1E2", '"\\"]"']);
  });

  it("are those of the last of two lists of one name, as JSON.parse has it", () => {
    expect(jsonItems('{"list":[1],"li\\u0073t":[2,3]}', "list[]")).toEqual(["2", "3"]);
    expect(jsonItems('{"list":[1],"list":{}}', "list[]")).toBeUndefined();
  });

  it("are found a thousand at once, and behind deep nesting", () => {
    const many = Array.from({ length: 1_000 }, (_, n) => `{"id":"${n}"}`);
    expect(jsonItems(`[${many.join(",")}]`, "[]")).toEqual(many);
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    expect(jsonItems(`{"a":${deep},"list":[${deep},1]}`, "list[]")).toEqual([deep, "1"]);
  });
});
