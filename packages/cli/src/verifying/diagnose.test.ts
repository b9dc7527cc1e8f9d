import { expect, test } from "vitest";
import { type Provider, providers, signRequest } from "webhook-anvil/signatures";
import type { Capture } from "./capture.ts";
import { type Diagnosis, diagnose } from "./diagnose.ts";

const NOW = Date.UTC(2025, 11, 1);
const SECRET = "a-secret-of-the-tests";
const EVENT = {
  id: "evt_1",
  type: "order.paid",
  name: "Zoë / Ltd",
  data: { amount: 4200, tags: ["a", "b"] },
};
const BODY = JSON.stringify(EVENT);

function row(name: string): Provider {
  return providers.get(name) as Provider;
}

/** A delivery as its provider signed it, and as it arrived after `change`. */
function captured(
  name: string,
  { body = BODY, secret = SECRET, url = "https://hooks.example.com/in", nowMs = NOW, headers = {} } = {},
  change: (capture: Capture) => Partial<Capture> = () => ({}),
): Capture {
  const signed = signRequest(row(name), { url, headers, body: Buffer.from(body) }, secret, { nowMs });
  const entries = Object.entries(signed.headers).map(([key, value]) => [key, [value]]);
  const capture = { method: "POST", url, headers: Object.fromEntries(entries), body: signed.body, notes: [] };
  return { ...capture, ...change(capture) };
}

const changes = (diagnosis: Diagnosis) => diagnosis.search?.hints.map(({ change }) => change) ?? [];
const states = ({ checks }: Diagnosis) => Object.fromEntries(checks.map(({ name, state }) => [name, state]));
const options = { secrets: [SECRET], url: "https://hooks.example.com/in", nowMs: NOW };

test("a right delivery passes every check, with its id and type", async () => {
  const diagnosis = await diagnose(row("workos"), captured("workos"), options);
  expect(diagnosis).toMatchObject({ ok: true, eventId: "evt_1" });
  expect(new Set(Object.values(states(diagnosis)))).toEqual(new Set(["passed"]));
});

const bodies: [what: RegExp, signed: string, arrived: string][] = [
  [/line break added/, `${BODY}\n`, BODY],
  [/without the line break/, BODY, `${BODY}\n`],
  [/\(CR LF\) added/, `${BODY}\r\n`, BODY],
  [/CR LF for the body's LF/, '{\r\n"a":1}', '{\n"a":1}'],
  [/with a byte order mark/, `\ufeff${BODY}`, BODY],
  [/two spaces of indent/, JSON.stringify(EVENT, null, 2), BODY],
  [/\(JavaScript\)/, BODY, JSON.stringify(EVENT, null, 2)],
  [/after commas and colons \(Python\)/, '{"id": "evt_1", "list": [1, 2]}', '{"id":"evt_1","list":[1,2]}'],
  [/\\u escapes$/, '{"name":"Zo\\u00eb"}', '{"name":"Zoë"}'],
  [/\(PHP\)/, '{"url":"https:\\/\\/example.com"}', '{"url":"https://example.com"}'],
  [/\(Go\)/, '{"html":"\\u003cb\\u003e"}', '{"html":"<b>"}'],
  [/names sorted/, '{"a":1,"b":2}', '{"b":2,"a":1}'],
  [/decoded from base64/, BODY, Buffer.from(BODY).toString("base64")],
  [/UTF-8 is decoded once/, '{"name":"Zoë"}', Buffer.from('{"name":"Zoë"}').toString("latin1")],
  [/field payload of the form/, BODY, new URLSearchParams({ payload: BODY }).toString()],
];

test.each(bodies)("what was done to a body is found: %s", async (what, signed, arrived) => {
  const capture = captured("github", { body: signed }, () => ({ body: Buffer.from(arrived) }));
  const diagnosis = await diagnose(row("github"), capture, options);
  expect(diagnosis).toMatchObject({ ok: false, reason: "wrong_signature" });
  expect(changes(diagnosis)).toEqual(expect.arrayContaining([expect.stringMatching(what)]));
});

const BASE64 = Buffer.from("a key of the tests, in base64").toString("base64");
const secrets: [what: RegExp, provider: string, signedWith: string, configured: string][] = [
  [/without white space/, "github", SECRET, ` ${SECRET}\n`],
  [/without its quotes/, "github", SECRET, `"${SECRET}"`],
  [/line break at the secret's end/, "github", `${SECRET}\n`, SECRET],
  [/without its prefix/, "stripe", "secret_of_the_tests", "whsec_secret_of_the_tests"],
  [/whsec_ in front/, "stripe", `whsec_${SECRET}`, SECRET],
  [/taken as base64 of the key/, "github", "a key of the tests, in base64", BASE64],
  [/taken as hex of the key/, "github", "a key, in hex", Buffer.from("a key, in hex").toString("hex")],
  [/taken as the text that it is/, "polar", `whsec_${BASE64}`, `whsec_${BASE64}`],
];

test.each(secrets)("what is wrong with a secret is found: %s", async (what, name, signedWith, configured) => {
  const asked = name === "polar" ? "standard-webhooks" : name;
  const capture = captured(name, { secret: signedWith, headers: { "webhook-id": "msg_1" } });
  const diagnosis = await diagnose(row(asked), capture, { ...options, secrets: [configured] });
  expect(diagnosis.ok).toBe(false);
  expect(changes(diagnosis)).toEqual(expect.arrayContaining([expect.stringMatching(what)]));
});

test.each([
  "http://hooks.example.com/in",
  "https://hooks.example.com/in/",
  "https://hooks.example.com:443/in",
  "https://www.hooks.example.com/in",
  "http://hooks.example.com:80/in",
])("the URL that was signed is found: %s", async (url) => {
  const capture = captured("square", { url }, () => ({ url: "" }));
  const diagnosis = await diagnose(row("square"), capture, options);
  expect(diagnosis.reason).toBe("wrong_signature");
  expect(changes(diagnosis)).toEqual([`with the URL ${url}`]);
});

test("another provider's signature is named, with the secret and without", async () => {
  const svix = { secret: `whsec_${BASE64}`, headers: { "svix-id": "msg_1" } };
  const known = await diagnose(row("standard-webhooks"), captured("svix", svix), {
    ...options,
    secrets: [svix.secret],
  });
  expect(known.reason).toBe("missing_signature");
  expect(changes(known)).toEqual(["as a delivery of svix, clerk, resend"]);
  const unknown = await diagnose(row("github"), captured("slack"), {
    ...options,
    secrets: ["another-secret"],
  });
  expect(unknown).toMatchObject({ reason: "missing_signature", looksLike: ["slack"] });
});

test("two things at once are found when neither is enough", async () => {
  const capture = captured("square", { body: `${BODY}\n`, url: "http://hooks.example.com/in" }, () => ({
    url: "",
    body: Buffer.from(BODY),
  }));
  const diagnosis = await diagnose(row("square"), capture, options);
  expect(changes(diagnosis)).toEqual([expect.stringMatching(/line break added.*, and with the URL http:/)]);
});

test("an old one says when it would have passed, and what is wrong besides", async () => {
  const old = NOW - 3_600_000;
  const late = await diagnose(row("workos"), captured("workos", { nowMs: old }), options);
  expect(late).toMatchObject({ reason: "timestamp_too_old", passesAt: old / 1_000 });
  expect(states(late)).toMatchObject({
    signature: "passed",
    timestamp: "failed",
    key: "passed",
    match: "not_reached",
  });
  expect(late.checks.find(({ name }) => name === "timestamp")?.found).toBe(
    "2025-11-30T23:00:00.000Z, 3600 s before now",
  );
  const both = captured("workos", { nowMs: old }, () => ({ body: Buffer.from(`${BODY}\n`) }));
  expect(await diagnose(row("workos"), both, options)).toMatchObject({
    reason: "timestamp_too_old",
    besides: "wrong_signature",
    search: { hints: [{ change: "without the line break at the body's end" }] },
  });
});

test("a token tells whether it was forged or its body changed", async () => {
  const changed = captured("livekit", {}, () => ({ body: Buffer.from("{}") }));
  expect(states(await diagnose(row("livekit"), changed, options))).toMatchObject({
    match: "passed",
    body: "failed",
  });
  const forged = captured("livekit", { secret: "another-secret" });
  expect(states(await diagnose(row("livekit"), forged, options))).toMatchObject({
    match: "failed",
    body: "not_reached",
  });
});

test("a forgery is a bounded number of trials, however large the body", async () => {
  const tried = async (body: string) => {
    const capture = captured("square", { body, secret: "another-secret" });
    const { search } = await diagnose(row("square"), capture, options);
    expect(search?.hints).toEqual([]);
    return search?.tried ?? 0;
  };
  expect(await tried(BODY)).toBeLessThanOrEqual(1_500);
  expect(await tried(BODY)).toBeGreaterThan(100);
  expect(await tried("x".repeat(8 * 1024 * 1024))).toBeLessThanOrEqual(16);
});

test("nothing of any secret, signature or body is in a diagnosis", async () => {
  for (const [name, provider] of providers) {
    const secret = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw==";
    const headers = {
      authorization: `Bearer ${secret}`,
      "x-signature": `v1=${secret}`,
      [`x-${name}-signature`]: secret,
      "x-gitlab-token": secret,
    };
    const entries = Object.entries(headers).map(([key, value]) => [key, [value]]);
    const capture: Capture = {
      method: "POST",
      url: "",
      headers: Object.fromEntries(entries),
      body: Buffer.from('{"hush":"body-of-the-tests"}'),
      notes: [],
    };
    const text = JSON.stringify(
      await diagnose(provider, capture, { ...options, url: "", secrets: [secret] }),
    );
    expect(text).not.toMatch(/c2VjcmV0|hush|body-of-the-tests/);
  }
});
