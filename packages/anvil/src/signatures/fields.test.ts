import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEventFields } from "./fields.ts";
import { githubSender, keyOf, type Sender, sender, senders, stripeSender, utf8 } from "./fixtures.ts";
import { headerLookup } from "./headers.ts";
import type { Provider } from "./provider.ts";

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** H-27: well-formed and malformed bodies of unexpected kinds, and the id that is to be read from each. */
const oddBodies: [what: string, body: Uint8Array, id?: string][] = [
  ["an empty body", utf8("")],
  ["null", utf8("null")],
  ["an empty list", utf8("[]")],
  ["a list with an object", utf8('[{"id":"evt_1"}]')],
  ["a text", utf8('"x"')],
  ["a number", utf8("12345")],
  ["an empty object", utf8("{}")],
  ["a numeric id", utf8('{"id":12345}')],
  ["another numeric id", utf8('{"id":12346}')],
  ["an id that is null", utf8('{"id":null}')],
  ["an id that is an object", utf8('{"id":{}}')],
  ["an id that is a list", utf8('{"id":["evt_1"]}')],
  ["an id that is true", utf8('{"id":true}')],
  ["an empty id", utf8('{"id":""}')],
  ["an id of 10 kB", utf8(`{"id":"${"x".repeat(10_000)}"}`), "x".repeat(10_000)],
  ["an id of 10 kB with another end", utf8(`{"id":"${"x".repeat(9_999)}y"}`), `${"x".repeat(9_999)}y`],
  ["an id with NUL", utf8('{"id":"a\\u0000b"}'), "a\0b"],
  ["an id that NUL would cut to the same", utf8('{"id":"a\\u0000c"}'), "a\0c"],
  ["an id with a line break", utf8('{"id":"a\\nb"}'), "a\nb"],
  ["an id with an emoji", utf8('{"id":"😀"}'), "😀"],
  ["an id that is half an emoji", utf8('{"id":"\\ud83d"}'), "\ud83d"],
  ["an id that is the other half", utf8('{"id":"\\ude00"}'), "\ude00"],
  ["an id that is white space", utf8('{"id":" "}'), " "],
  ["an id in bytes that are no UTF-8", Buffer.from('{"id":"\xff"}', "latin1")],
  ["another id in bytes that are no UTF-8", Buffer.from('{"id":"\xfe"}', "latin1")],
  ["the id undefined as a text", utf8('{"id":"undefined"}'), "undefined"],
  ["truncated JSON", utf8('{"id":"evt_1"')],
  ["100 000 lists in each other", utf8(nested(100_000, "[", "]"))],
  ["100 000 objects in each other", utf8(`${'{"id":'.repeat(100_000)}1${"}".repeat(100_000)}`)],
  ["100 000 lists that never end", utf8("[".repeat(100_000))],
  ["an id under __proto__", utf8('{"__proto__":{"id":"evt_1"}}')],
  ["another id under __proto__", utf8('{"__proto__":{"id":"evt_1"},"a":1}')],
  ["an id beside __proto__", utf8('{"__proto__":{"id":"evt_1"},"id":"evt_3"}'), "evt_3"],
  ["duplicate keys, of which the last counts", utf8('{"id":"evt_1","id":"evt_4"}'), "evt_4"],
  ["no JSON", utf8("id=evt_1")],
  ["bytes", Uint8Array.of(0xff, 0xfe, 0x00, 0x80)],
];

describe("bodies of unexpected kinds (H-27)", () => {
  const read = (one: Sender, body: Uint8Array) => one.verify(one.sign(body), body);

  it.each(oddBodies.map(([what, body, id]) => ({ what, body, id })))("$what", ({ body, id }) => {
    const result = read(stripeSender, body);
    expect(result.ok).toBe(true);
    expect(result.ok && result.eventId).toBe(id);
  });

  it("never give two different events one key, whichever provider", () => {
    for (const one of senders.filter(({ provider }) => provider.name !== "standard-webhooks")) {
      // GitHub's identity is its delivery header; without it the bodies alone must tell them apart.
      const keys = oddBodies.map(([, body]) => {
        const { "x-github-delivery": _, ...headers } = one.sign(body);
        return keyOf(one.verify(headers, body), body);
      });
      expect(new Set(keys).size).toBe(oddBodies.length);
    }
  });

  it("give two events with different ids different keys, and one event one key", () => {
    const event = fc.record({ id: fc.string({ unit: "binary", minLength: 1 }), data: fc.jsonValue() });
    fc.assert(
      fc.property(event, event, (a, b) => {
        const [first, second] = [utf8(JSON.stringify(a)), utf8(JSON.stringify(b))];
        const same = keyOf(read(stripeSender, first), first) === keyOf(read(stripeSender, second), second);
        expect(same).toBe(a.id === b.id || Buffer.from(first).equals(second));
      }),
      { numRuns: 300 },
    );
  });

  it("never make reading throw, whatever the bytes and the content type", () => {
    const contentType = fc.constantFrom("application/json", "application/x-www-form-urlencoded", "", "\0");
    fc.assert(
      fc.property(fc.uint8Array(), contentType, (body, type) => {
        for (const { provider } of senders) {
          expect(() =>
            readEventFields(provider, { body, header: headerLookup({ "content-type": type }) }),
          ).not.toThrow();
        }
      }),
    );
  });

  it("leave no trace on Object", () => {
    read(stripeSender, utf8('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("GitHub", () => {
  const fields = (headers: Record<string, string>, text: string) => {
    const body = utf8(text);
    const result = githubSender.verify(githubSender.sign(body, { headers }), body);
    return result.ok ? { eventId: result.eventId, type: result.type } : result;
  };
  const delivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958";

  it.each([
    ["push", '{"ref":"refs/heads/main"}', "push"],
    ["issues", '{"action":"opened"}', "issues.opened"],
    ["issues", '{"action":5}', "issues"],
    ["issues", '{"action":""}', "issues"],
    ["ping", "", "ping"],
    ["", '{"action":"opened"}', undefined],
  ])("event %j with the body %s has type %s", (event, body, type) => {
    expect(fields({ "x-github-event": event }, body)).toEqual({ eventId: delivery, type });
  });

  it("has the same type, and its signature over the raw form, when the hook sends forms (H-07)", () => {
    const form = "payload=%7B%22action%22%3A%22opened%22%2C%22title%22%3A%22a+b%20~*'%C3%A9%c3%a9%22%7D";
    const headers = { "x-github-event": "issues", "content-type": "application/x-www-form-urlencoded" };
    expect(fields(headers, form)).toEqual({ eventId: delivery, type: "issues.opened" });
  });

  it("keeps the delivery's id when it is delivered again, and falls back to signature and body without one", () => {
    const body = utf8("{}");
    const key = (headers: Record<string, string>) => keyOf(githubSender.verify(headers, body), body);
    const headers = githubSender.sign(body);
    expect(key(headers)).toBe(key(githubSender.sign(body)));
    const fallback = key({ ...headers, "x-github-delivery": "" });
    const { "x-github-delivery": _, ...without } = headers;
    expect(fallback).toBe(key(without));
    expect(fallback).not.toBe(key(headers));
    // Never a shared "undefined": another body without an id is another event.
    const other = utf8('{"a":1}');
    const { "x-github-delivery": __, ...otherHeaders } = githubSender.sign(other);
    expect(keyOf(githubSender.verify(otherHeaders, other), other)).not.toBe(fallback);
  });
});

describe("a row of one's own", () => {
  const row = (more: Partial<Provider>): Provider => ({
    name: "made-up",
    scheme: {
      kind: "hmac",
      hash: "sha512",
      secret: "utf8",
      signature: { header: "x-made-up", encoding: "base64", layout: { kind: "single" } },
      message: "{header:x-nonce}.{body}",
    },
    keepHeaders: [],
    docs: "https://example.com/webhooks",
    ...more,
  });
  const read = (provider: Provider, text: string, headers: Record<string, string> = {}) => {
    const one = sender(provider, "made-up-secret", { "x-nonce": "n1" });
    const body = utf8(text);
    const result = one.verify(one.sign(body, { headers }), body);
    if (!result.ok) throw new Error(result.reason);
    return { eventId: result.eventId, type: result.type };
  };

  it("has no id and no type where it names no fields", () => {
    expect(read(row({}), '{"id":"1","type":"a"}')).toEqual({ eventId: undefined, type: undefined });
    expect(read(row({ identity: [], type: [] }), '{"id":"1"}')).toEqual({
      eventId: undefined,
      type: undefined,
    });
  });

  it("reads ids and types on dotted paths, own properties only", () => {
    const provider = row({ identity: [{ body: "data.object.id" }], type: [{ body: "meta.type" }] });
    const body = '{"data":{"object":{"id":"ch_1"}},"meta":{"type":"paid"}}';
    expect(read(provider, body)).toEqual({ eventId: "ch_1", type: "paid" });
    expect(read(provider, '{"data":{"object":null},"meta":"paid"}')).toEqual({});
    expect(read(row({ identity: [{ body: "constructor.name" }] }), "{}")).toEqual({});
    expect(read(row({ identity: [{ body: "name.length" }] }), '{"name":"x"}')).toEqual({});
  });

  it("joins several fields to one id without ambiguity, and has none where one of them is missing", () => {
    const provider = row({ identity: [{ header: "x-account" }, { body: "id" }] });
    const id = (account: string, text: string) => read(provider, text, { "x-account": account }).eventId;
    expect(id("a", '{"id":"b"}')).toBe('["a","b"]');
    expect(id('a","b', '{"id":"c"}')).not.toBe(id("a", '{"id":"b\\",\\"c"}'));
    expect(id("a", "{}")).toBeUndefined();
    expect(id("", '{"id":"b"}')).toBeUndefined();
  });

  it("never takes the text of one id for a list of several", () => {
    const list = row({ identity: [{ body: "[].id" }] });
    const id = (...ids: string[]) => read(list, JSON.stringify(ids.map((each) => ({ id: each })))).eventId;
    expect(id("a")).toBe("a");
    expect(id("a", "b")).toBe('["a","b"]');
    expect(id('["a","b"]')).not.toBe(id("a", "b"));
    expect(id("[")).not.toBe(id('["["]'));
  });

  it("joins the parts of its type with dots, and has none without the first", () => {
    const provider = row({ type: [{ body: "a" }, { body: "b" }, { body: "c" }] });
    expect(read(provider, '{"a":"x","b":"y","c":"z"}').type).toBe("x.y.z");
    expect(read(provider, '{"a":"x","c":"z"}').type).toBe("x.z");
    expect(read(provider, '{"b":"y"}').type).toBeUndefined();
  });

  it("takes the first of several lists of which every field is there", () => {
    const provider = row({
      identity: [[{ header: "x-id" }], [{ body: "id" }, { body: "state" }], [{ form: "Sid" }]],
      type: [[{ header: "x-topic" }, { body: "action" }], [{ form: "Event" }], [{ body: "kind" }]],
    });
    const body = '{"id":"b","state":"c","kind":"k","action":"a"}';
    expect(read(provider, body, { "x-id": "h", "x-topic": "t" })).toEqual({ eventId: "h", type: "t.a" });
    expect(read(provider, body)).toEqual({ eventId: '["b","c"]', type: "k" });
    expect(read(provider, '{"id":"b"}')).toEqual({});
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(read(provider, "Sid=SM1&Event=e", form)).toEqual({ eventId: "SM1", type: "e" });
    // What claims to be a form and is JSON is no form: its content type is signed by nobody.
    expect(read(provider, '{"id":"b","Sid":"SM1"}', form)).toEqual({});
  });

  it("reads the name of what a body holds, and names with dots in them", () => {
    const provider = row({ identity: [{ body: "a.@odata\\.etag" }], type: [{ nameBeside: ["update_id"] }] });
    expect(read(provider, '{"update_id":1,"message":{},"a":{"@odata.etag":"W/1"}}')).toEqual({
      eventId: "W/1",
      type: "message",
    });
    expect(read(provider, '{"a":{"@odata":{"etag":"W/1"}}}')).toEqual({ type: "a" });
    for (const text of ['{"update_id":1}', "[1]", '"text"', "null", "{}", ""])
      expect(read(provider, text)).toEqual({});
  });
});
