import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCipher } from "../contract/cipher.ts";
import { encodeBody, encryptBody } from "../contract/envelope.ts";
import { toEvent, type WebhookEvent } from "./event.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

function event(body: Uint8Array, headers: Record<string, string> = {}): WebhookEvent {
  const envelope = { v: 1, source: "default", key: "k", receivedAt: 1_760_000_000_000, headers } as const;
  return toEvent("wh_1", JSON.parse(JSON.stringify({ ...envelope, ...encodeBody(body) })));
}

describe("toEvent", () => {
  it("carries what the envelope holds", () => {
    const {
      bytes: _,
      text: __,
      json: ___,
      ...rest
    } = toEvent("wh_1", {
      v: 1,
      source: "stripe",
      key: "k",
      eventId: "evt_1",
      type: "invoice.paid",
      receivedAt: 1_760_000_000_000,
      headers: { "content-type": "application/json" },
      body: "{}",
      encoding: "utf8",
    });
    expect(rest).toEqual({
      id: "wh_1",
      source: "stripe",
      eventId: "evt_1",
      type: "invoice.paid",
      receivedAt: new Date("2025-10-09T08:53:20.000Z"),
      headers: { "content-type": "application/json" },
    });
    expect(event(utf8(""))).toMatchObject({ eventId: undefined, type: undefined });
  });

  it("gives the bytes as they were sent, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(event(bytes).bytes).toEqual(bytes);
      }),
    );
  });

  it("gives the text with its BOM, line ends, U+2028 and emoji", () => {
    const text = '\ufeff{"a":"\u2028😀"}\r\n';
    expect(event(utf8(text)).text).toBe(text);
    expect(event(utf8(text)).bytes).toEqual(utf8(text));
  });

  it("is the same event when its body is encrypted, its BOM included", () => {
    const cipher = createCipher(
      Uint8Array.from({ length: 32 }, (_, at) => at),
      [],
    );
    const of = { v: 1, source: "default", key: "k" } as const;
    const body = utf8('\ufeff{"a":"\u2028😀"}\r\n');
    const envelope = { ...of, receivedAt: 1, headers: {}, ...encryptBody(body, of, cipher) };
    const { bytes, text, json } = toEvent("wh_1", envelope, cipher);
    expect([bytes, text, json()]).toEqual([body, event(body).text, { a: "\u2028😀" }]);
    expect(() => toEvent("wh_1", envelope)).toThrow(expect.objectContaining({ code: "unreadable_job" }));
  });

  it("gives a text of bytes that are no UTF-8, with U+FFFD for them", () => {
    expect(event(Uint8Array.of(0x61, 0xff, 0x62)).text).toBe("a\ufffdb");
  });

  it("parses JSON behind a BOM and with a CRLF after it", () => {
    expect(event(utf8('\ufeff{"a":"é"}\r\n')).json()).toEqual({ a: "é" });
  });

  it("parses the payload of a form (H-07)", () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const form = event(utf8("payload=%7B%22action%22%3A%22opened%22%7D"), headers);
    expect(form.json()).toEqual({ action: "opened" });
    expect(form.text).toBe("payload=%7B%22action%22%3A%22opened%22%7D");
  });

  it.each(["", "{", "a=1", "\ufeff"])(
    "throws a SyntaxError when asked for the JSON of %j, and not before",
    (text) => {
      const received = event(utf8(text));
      expect(() => received.json()).toThrow(SyntaxError);
    },
  );

  it("parses anew each time, so that no handler changes another's event", () => {
    const received = event(utf8('{"a":1}'));
    (received.json() as { a: number }).a = 2;
    expect(received.json()).toEqual({ a: 1 });
  });
});
