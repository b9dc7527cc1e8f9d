import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WantedKey } from "../signatures/schemes/engine.ts";
import { httpsKeys } from "./https-keys.ts";

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nbWFkZSB1cA==\n-----END CERTIFICATE-----\n";
const certificate = (name = "made-up"): WantedKey => ({
  kind: "certificate",
  url: `https://sns.eu-west-1.amazonaws.com/${name}.pem`,
});
const jwk = (kid: string, credentials = "made-up-client:made-up-plaid-secret:sandbox"): WantedKey => ({
  kind: "jwk",
  provider: "plaid",
  kid,
  credentials,
});

type Asked = { readonly url: string; readonly body: string };

/** A server that stands where the provider's is, reached by the real fetch. */
async function started(respond: (asked: Asked, answer: ServerResponse) => void, timeoutMs = 10_000) {
  const asked: Asked[] = [];
  const sent: string[] = [];
  const clock = { now: 1_760_000_000_000 };
  const server = createServer(async (incoming, answer) => {
    const one = { url: incoming.url ?? "", body: await textOf(incoming) };
    asked.push(one);
    respond(one, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const get = httpsKeys({
    timeoutMs,
    now: () => clock.now,
    fetch: (url, init) => {
      sent.push(String(url));
      return fetch(String(url).replace(/^https:\/\/[^/]+/, `http://127.0.0.1:${port}`), init);
    },
  });
  return { get, asked, sent, clock, stop: () => new Promise((resolve) => server.close(resolve)) };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe("keys over https", () => {
  it("are asked for once by many at once, and kept for a day", async () => {
    const { get, asked, clock } = await started((_, answer) => answer.end(CERTIFICATE));
    const many = await Promise.all(Array.from({ length: 50 }, () => get(certificate())));
    expect(new Set(many)).toEqual(new Set([CERTIFICATE]));
    clock.now += 86_400_000 - 1;
    await get(certificate());
    expect(asked).toHaveLength(1);
    clock.now += 1;
    await get(certificate());
    expect(asked).toHaveLength(2);
  });

  it("are asked for again five seconds after a failure, not before", async () => {
    let status = 500;
    const { get, asked, clock } = await started((_, answer) => answer.writeHead(status).end(CERTIFICATE));
    const failure = {
      name: "KeyUnavailable",
      message: "sns.eu-west-1.amazonaws.com didn't give the key: status 500",
    };
    await expect(get(certificate())).rejects.toMatchObject(failure);
    status = 200;
    clock.now += 4_999;
    await expect(get(certificate())).rejects.toMatchObject(failure);
    expect(asked).toHaveLength(1);
    clock.now += 1;
    expect(await get(certificate())).toBe(CERTIFICATE);
  });

  for (const [what, respond, reason] of [
    [
      "a redirect",
      (_: Asked, to: ServerResponse) => to.writeHead(302, { location: "/x" }).end(),
      "TypeError",
    ],
    ["silence", () => {}, "no answer in time"],
    ["a body that stops", (_: Asked, to: ServerResponse) => to.write("-----BEGIN"), "no answer in time"],
    [
      "more than 64 kB",
      (_: Asked, to: ServerResponse) => to.end("x".repeat(65_537)),
      "more than 65536 bytes",
    ],
    ["a page with a 200", (_: Asked, to: ServerResponse) => to.end("<html>later</html>"), "no certificate"],
    ["a broken connection", (_: Asked, to: ServerResponse) => to.destroy(), ""],
  ] as const) {
    it(`don't come of ${what}`, async () => {
      const { get } = await started(respond, reason === "no answer in time" ? 300 : undefined);
      const error = (await get(certificate()).catch((thrown: unknown) => thrown)) as Error;
      expect(error.name).toBe("KeyUnavailable");
      expect(error.message).toContain(`sns.eu-west-1.amazonaws.com didn't give the key: ${reason}`);
      expect(error.cause).toBeUndefined();
    });
  }

  it("aren't pushed out by what strangers make up, nor is the provider asked about all of it at once", async () => {
    const waiting: ServerResponse[] = [];
    const { get, asked } = await started(({ url }, answer) => {
      if (url.startsWith("/made-up")) answer.end(CERTIFICATE);
      else waiting.push(answer);
    });
    await get(certificate());
    for (let round = 0; round < 15; round++) {
      const strangers = Array.from({ length: 20 }, (_, n) => get(certificate(`x${round}-${n}`)));
      const settled = Promise.allSettled(strangers);
      await expect.poll(() => waiting.length, { interval: 5 }).toBe(10);
      for (const answer of waiting.splice(0)) answer.writeHead(404).end();
      const reasons = (await settled).map((one) => String((one as PromiseRejectedResult).reason));
      expect(reasons.filter((reason) => reason.includes("too many keys"))).toHaveLength(10);
    }
    expect(asked).toHaveLength(151);
    await get(certificate());
    expect(asked).toHaveLength(151);
  });

  it("of Plaid come from its own hosts by the source's credentials, which no error holds", async () => {
    let body = JSON.stringify({ key: { kty: "EC", crv: "P-256", x: "a", y: "b", expired_at: null } });
    const { get, asked, sent, clock } = await started((_, answer) => answer.end(body));
    expect(JSON.parse(await get(jwk("kid-1")))).toMatchObject({ kty: "EC" });
    expect(sent).toEqual(["https://sandbox.plaid.com/webhook_verification_key/get"]);
    expect(JSON.parse(asked[0]?.body ?? "")).toEqual({
      client_id: "made-up-client",
      secret: "made-up-plaid-secret",
      key_id: "kid-1",
    });
    for (const environment of ["", ":production", ":evil.example/"]) {
      await get(jwk("kid-1", `made-up-client:made-up-plaid-secret${environment}`));
      expect(new URL(sent.at(-1) as string).host).toBe("production.plaid.com");
    }
    for (const wrong of ['{"error_code":"INVALID"}', "null", "{", '{"key":"text"}']) {
      body = wrong;
      const error = (await get(jwk(`kid-${clock.now++}`)).catch((thrown: unknown) => thrown)) as Error;
      expect(error.name).toBe("KeyUnavailable");
      expect(`${error.message} ${error.stack}`).not.toMatch(/made-up-(client|plaid-secret)/);
    }
  });
});
