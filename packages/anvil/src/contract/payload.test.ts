import { describe, expect, it } from "vitest";
import { parsePayload } from "./payload.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const FORM = "application/x-www-form-urlencoded";

describe("parsePayload", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=iso-8859-1",
    "",
    undefined,
  ])("reads JSON as UTF-8 under content type %j", (contentType) => {
    expect(parsePayload(utf8('{"name":"é😀"}'), contentType)).toEqual({ name: "é😀" });
  });

  it("reads JSON behind a BOM", () => {
    expect(parsePayload(utf8('\ufeff{"a":1}'), "application/json")).toEqual({ a: 1 });
  });

  it("never reads signed JSON as a form, whatever the content type says, which nobody signs", () => {
    const signed = '{"id":"real","note":"&payload={%22id%22:%22evil%22}"}';
    expect(parsePayload(utf8(signed), FORM)).toMatchObject({ id: "real" });
  });

  // H-07: GitHub hooks configured as form.
  it.each([
    ["payload=%7B%22a%22%3A%22b+c%22%7D", { a: "b c" }],
    ["payload=%7B%22a%22%3A%22b%20c%22%7D", { a: "b c" }],
    ["payload=%7B%22a%22%3A%221%2B1%22%7D", { a: "1+1" }],
    ["payload=%7B%22a%22%3A%22~*'()%22%7D", { a: "~*'()" }],
    ["payload=%7b%22a%22%3a%22%c3%a9%F0%9F%98%80%22%7d", { a: "é😀" }],
    ["other=1&payload=%7B%22a%22%3A1%7D", { a: 1 }],
  ])("takes the JSON out of the form %s (H-07)", (form, payload) => {
    expect(parsePayload(utf8(form), FORM)).toEqual(payload);
  });

  it.each([
    "application/x-www-form-urlencoded; charset=utf-8",
    "Application/X-WWW-Form-URLEncoded ;x=y",
    FORM,
  ])("knows a form by its media type in %j", (contentType) => {
    expect(parsePayload(utf8("payload=%7B%7D"), contentType)).toEqual({});
  });

  it("reads JSON that is only said to be a form", () => {
    expect(parsePayload(utf8('{"a":1}'), FORM)).toEqual({ a: 1 });
  });

  it.each<[string, string | undefined]>([
    ["", "application/json"],
    ["payload=%7B%7D", "application/json"],
    ["payload=%7B%7D", undefined],
    ["payload=%7B", FORM],
    ["payload=", FORM],
    ["a=1&b=2", FORM],
    ["{", "application/json"],
  ])("throws a SyntaxError for %j as %j", (body, contentType) => {
    expect(() => parsePayload(utf8(body), contentType)).toThrow(SyntaxError);
  });

  it.each<[string, string | undefined, string]>([
    ["hello world", undefined, "The body is no JSON"],
    ['{"card":"4111111111111111",}', undefined, "The body is no JSON; it goes wrong at character 27"],
    ['{"card":"4111111111111111" x', undefined, "The body is no JSON; it goes wrong at character 27"],
    ['{"card":"4111', undefined, "The body is no JSON; it goes wrong at character 13"],
    ["4111111111111111 in JSON at position 4111", undefined, ""],
    ["x in JSON at position 4111", undefined, "The body is no JSON"],
    ["", undefined, "The body is no JSON: it is empty"],
    ["payload=4111x", FORM, 'The field "payload" of the form is no JSON'],
    ["card=4111&payload=", FORM, 'The field "payload" of the form is no JSON: it is empty'],
    ["card=4111", FORM, "The body is no JSON"],
  ])("never quotes %j in what it throws, as JSON.parse does", (body, contentType, message) => {
    let thrown: unknown;
    try {
      parsePayload(utf8(body), contentType);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(SyntaxError);
    const { message: said, stack, cause } = thrown as SyntaxError;
    if (message !== "") expect(said.replace(/ \(line.*/, "")).toBe(message);
    expect(cause).toBeUndefined();
    expect(`${said}${stack}`).not.toMatch(/4111|hello/);
  });
});
