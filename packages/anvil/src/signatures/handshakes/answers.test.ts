import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headerLookup } from "../headers.ts";
import { providers } from "../providers/index.ts";
import { verifyRequest } from "../verify.ts";
import { handshakeOf } from "./index.ts";

const NOW = 1_760_000_000_000;
const SECRET = "made-up-secret-of-the-handshakes";
const BRAINTREE = "made_up_public|made_up_private_key";

const asked = (
  name: string,
  request: { method?: string; query?: string; body?: string; secret?: string },
) => {
  const { method = "GET", query = "", body, secret = SECRET } = request;
  const handshake = handshakeOf(providers.get(name) as NonNullable<ReturnType<typeof providers.get>>);
  const head = { method, url: `https://hooks.example/webhooks/x${query}`, header: headerLookup({}) };
  const source = { secrets: [secret] };
  return body === undefined
    ? handshake?.beforeBody?.(head, source)
    : handshake?.unsigned?.({ ...head, body: new TextEncoder().encode(body) }, source);
};
const verified = async (
  name: Parameters<typeof verifyRequest>[0],
  headers: Record<string, string>,
  body: string,
  secret = SECRET,
) => (await verifyRequest(name, { headers, body }, { secrets: [secret], now: NOW })).ok;

/** What an attacker would have signed: all that a handshake lets through, JSON and forms among it. */
const wanted = fc.oneof(
  fc.stringMatching(/^[\w.=+/~-]{1,200}$/),
  fc.json(),
  fc.constantFrom("1", "true", "null", "12345", '{"a":1}', "v0:1760000000:{}", "bt_payload=abc"),
  fc.string(),
);

describe("what a handshake signs for anybody is never the signature of a delivery", () => {
  it("X: a body that its token could be is refused, however it is signed", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(wanted, async (token) => {
        const answer = asked("x", { query: `?crc_token=${encodeURIComponent(token)}` });
        if (!answer) return;
        answered += 1;
        const { response_token: signature } = JSON.parse(answer.body) as { response_token: string };
        expect(await verified("x", { "x-twitter-webhooks-signature": signature }, token)).toBe(false);
      }),
      { numRuns: 300 },
    );
    expect(answered).toBeGreaterThan(50);
  });

  it("Zoom: no body and no time make the message that its token was", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(wanted, async (plainToken) => {
        const body = JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } });
        const answer = asked("zoom", { method: "POST", body });
        if (!answer) return;
        answered += 1;
        const { encryptedToken } = JSON.parse(answer.body) as { encryptedToken: string };
        for (const [time, bytes] of [
          ["1760000000", plainToken],
          ["1760000000", plainToken.replace(/^v0:\d+:/, "")],
          ["1760000000", body],
        ] as const) {
          const headers = { "x-zm-signature": `v0=${encryptedToken}`, "x-zm-request-timestamp": time };
          expect(await verified("zoom", headers, bytes)).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
    expect(answered).toBeGreaterThan(50);
  });

  it("Braintree: its challenge is no payload", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[a-f0-9]{20,32}$/),
        fc.constantFrom("", "\n"),
        async (challenge, end) => {
          const answer = asked("braintree", { query: `?bt_challenge=${challenge}`, secret: BRAINTREE });
          const form = new URLSearchParams({
            bt_signature: answer?.body as string,
            bt_payload: challenge + end,
          });
          const headers = { "content-type": "application/x-www-form-urlencoded" };
          expect(await verified("braintree", headers, form.toString(), BRAINTREE)).toBe(false);
        },
      ),
      { numRuns: 100 },
    );
    for (const challenge of ["a".repeat(19), "a".repeat(33), "A".repeat(20), `${"a".repeat(20)}\n`]) {
      const query = `?bt_challenge=${encodeURIComponent(challenge)}`;
      expect(asked("braintree", { query, secret: BRAINTREE })).toBeUndefined();
    }
  });

  it("Okta: its challenge comes back as it is, and the secret never does", () => {
    fc.assert(
      fc.property(wanted, (challenge) => {
        const head = {
          method: "GET",
          url: "",
          header: (name: string) =>
            ({ "x-okta-verification-challenge": challenge, authorization: SECRET })[name],
        };
        const answer = handshakeOf({ handshake: "okta" })?.beforeBody?.(head, { secrets: [SECRET] });
        if (answer) expect(JSON.parse(answer.body)).toEqual({ verification: challenge });
        expect(answer?.body ?? "").not.toContain(SECRET);
      }),
      { numRuns: 200 },
    );
  });
});

/** Those whose answer repeats something of the question. */
const echoes: readonly [name: string, question: (text: string) => { query?: string; header?: string }][] = [
  ["meta", (text) => ({ query: `?hub.mode=subscribe&hub.verify_token=made-up-token&hub.challenge=${text}` })],
  ["websub", (text) => ({ query: `?hub.mode=unsubscribe&hub.topic=x&hub.challenge=${text}` })],
  ["dropbox", (text) => ({ query: `?challenge=${text}` })],
  ["microsoft-graph", (text) => ({ query: `?validationToken=${text}` })],
  ["asana", (text) => ({ header: decodeURIComponent(text) })],
];

describe("nothing that is repeated can be taken for a page", () => {
  for (const [name, question] of echoes) {
    it(name, () => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string({ maxLength: 3_000 }),
            fc.constantFrom("<script>alert(1)</script>", "a\r\nset-cookie: b=c", "a".repeat(501)),
          ),
          (text) => {
            const { query = "", header } = question(encodeURIComponent(text));
            const handshake = handshakeOf(providers.get(name) as never);
            const head = {
              method: ["asana", "microsoft-graph"].includes(name) ? "POST" : "GET",
              url: `https://hooks.example/x${query}`,
              header: (wantedName: string) => (wantedName === "x-hook-secret" ? header : undefined),
            };
            const answer = handshake?.beforeBody?.(head, { secrets: [], verifyToken: "made-up-token" });
            if (!answer) return;
            if (answer.body !== "") {
              expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
              expect(answer.headers["x-content-type-options"]).toBe("nosniff");
              expect(answer.body.length).toBeLessThanOrEqual(2_000);
            }
            // Graph's token is any text; all others are held to plain characters.
            const repeated = answer.body + Object.values(answer.headers).slice(0, 1).join();
            if (name !== "microsoft-graph") expect(repeated).not.toMatch(/[<>"'\r\n]/);
          },
        ),
        { numRuns: 300 },
      );
    });
  }
});
