import { describe, expect, it } from "vitest";
import { utf8 } from "../fixtures.ts";
import { signRequest } from "../sign.ts";
import { verifyRequest } from "../verify.ts";
import { NOW_MS, senderOf } from "./fixtures.ts";

const { secret, provider } = senderOf("contentful");
const wrong = { ok: false, reason: "wrong_signature" };
const LIST = "x-contentful-signed-headers";
const signed = (url: string, nowMs = NOW_MS) =>
  signRequest(provider, { url, headers: { "x-contentful-topic": "made.up" }, body: utf8("{}") }, secret, {
    nowMs,
  });
const request = signed("https://hooks.example/contentful?a=1&b=%20");
const judge = (
  changes: Record<string, string | undefined>,
  more: { url?: string; method?: string; body?: string } = {},
) =>
  verifyRequest(
    "contentful",
    { ...request, ...more, headers: { ...request.headers, ...changes } },
    { secrets: [secret], now: NOW_MS },
  );

describe("what Contentful signs", () => {
  it("is the method, the path and the query, as they are spelt, but not the host", async () => {
    expect(await judge({})).toMatchObject({ ok: true });
    expect(await judge({}, { method: "post" })).toMatchObject({ ok: true });
    expect(await judge({}, { method: "PUT" })).toEqual(wrong);
    expect(await judge({}, { url: request.url.replace("https://hooks", "http://other") })).toMatchObject({
      ok: true,
    });
    for (const [from, to] of [
      ["/contentful", "/contentfu"],
      ["/contentful", "//contentful"],
      ["?a", "?A"],
      ["a=1&b=%20", "b=%20&a=1"],
      ["b=%20", "b=+"],
      ["?", "%3F"],
    ] as const) {
      expect(await judge({}, { url: request.url.replace(from, to) }), to).toEqual(wrong);
    }
  });

  it("holds line breaks apart from each other", async () => {
    // A body that begins where the headers end would be another reading of the same text.
    const headers = `${LIST}:${request.headers[LIST]}`;
    expect(await judge({}, { body: `\n{}` })).toEqual(wrong);
    expect(await judge({}, { body: `${headers}\n{}` })).toEqual(wrong);
  });

  it.each(["", "/contentful", "contentful", "ftp://hooks.example/x", "https://hooks.example"])(
    "can't be told by the URL %j",
    async (url) => {
      expect(await judge({}, { url })).toEqual({ ok: false, reason: "missing_signed_part" });
    },
  );

  it("is whichever headers its list names, and the list must name itself and the time", async () => {
    const refused = { ok: false, reason: "malformed_signed_header" };
    const list = request.headers[LIST] as string;
    expect(list.split(",")).toContain(LIST);
    for (const value of [
      undefined,
      "",
      list.replace(`${LIST},`, ""),
      list.replace("x-contentful-timestamp", "x-contentful-topic"),
      `${list},x-not-there`,
      Array.from({ length: 51 }, (_, n) => `x-${n}`)
        .concat(list)
        .join(","),
    ]) {
      expect(await judge({ [LIST]: value }), String(value).slice(0, 80)).toEqual(refused);
    }
    // Fewer, more, or another order of what is signed is another text.
    expect(await judge({ [LIST]: list.replace(",x-contentful-topic", "") })).toEqual(wrong);
    expect(await judge({ [LIST]: `${list},content-type`, "content-type": "text/plain" })).toEqual(wrong);
    expect(await judge({ [LIST]: list.split(",").reverse().join(",") })).toEqual(wrong);
  });

  it.each([
    [30, true],
    [31, false],
    [-30, true],
    [-31, false],
  ])("is good %d s later: %s", async (seconds, ok) => {
    const { headers, url, body } = signed(request.url, NOW_MS - seconds * 1000);
    const verdict = await verifyRequest(
      "contentful",
      { url, headers, body },
      { secrets: [secret], now: NOW_MS },
    );
    expect(verdict.ok).toBe(ok);
  });

  it("has a key of 64 characters", async () => {
    for (const other of [secret.slice(1), `${secret}x`, ""]) {
      const verdict = await verifyRequest("contentful", request, { secrets: [other], now: NOW_MS });
      expect(verdict).toEqual({ ok: false, reason: "no_key" });
    }
  });
});
