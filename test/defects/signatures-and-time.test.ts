import { createHmac } from "node:crypto";
import { sharedRedisUrl, waitUntil } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, env, silentLog, Unrecoverable } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { replayDeadLetter } from "webhook-anvil/replay";
import { resolveConfig, servedSources } from "webhook-anvil/signatures";
import { createWorker, type HandlerMap } from "webhook-anvil/worker";
import { deployedHosts } from "../ingress/hosts.ts";
import { receiver, SECRET, STRIPE_SECRET, signed, utf8 } from "./receiver.ts";

/** A2 of the known defects: signature headers, secrets, time. */

const hex = (body: Uint8Array, secret = SECRET): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** Everything that is wrong with a configuration, or nothing. */
function problems(config: unknown, variables: Record<string, string | undefined> = {}): readonly string[] {
  try {
    resolveConfig(config, variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe.each(deployedHosts)("%s", (_, start) => {
  it("H-09 finds headers in lower, Title and UPPER case", async () => {
    const ingress = await receiver(start);
    const title = (name: string) => name.replace(/(^|-)[a-z]/g, (part) => part.toUpperCase());
    for (const spelling of [(name: string) => name, title, (name: string) => name.toUpperCase()]) {
      const body = utf8('{"action":"opened"}');
      const { path, headers } = signed("github", body, {
        headers: {
          "x-github-event": "issues",
          "x-github-delivery": `made-up-h09-${spelling("a-b")}`,
          "content-type": "application/json",
        },
      });
      const spelt = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [spelling(name), value]),
      );
      const { envelope } = await ingress.stored(await ingress.send({ path, headers: spelt, body } as never));
      expect(envelope).toMatchObject({ type: "issues.opened", eventId: `made-up-h09-${spelling("a-b")}` });
      expect(envelope.headers["content-type"]).toBe("application/json");
    }
  });

  it("H-12 takes any one good signature of the right version, and each secret that is configured", async () => {
    const old = "whsec_made_up_before";
    const both = { stripe: { provider: "stripe", secret: STRIPE_SECRET, previousSecret: old } } as const;
    const ingress = await receiver(start, { sources: both });
    const at = String(Math.floor(Date.now() / 1000));
    const bad = "0".repeat(64);
    const send = (n: number, header: (good: string) => string) => {
      const body = utf8(`{"id":"evt_made_up_h12_${n}"}`);
      const good = createHmac("sha256", STRIPE_SECRET).update(`${at}.`).update(body).digest("hex");
      const headers = { "stripe-signature": `t=${at},${header(good)}` };
      return { path: "/webhooks/stripe", headers, body };
    };
    for (const [n, header] of [
      (good: string) => `v1=${good},v1=${bad}`,
      (good: string) => `v1=${bad},v1=${good}`,
      (good: string) => `v1=${good},v0=x`,
    ].entries()) {
      await ingress.stored(await ingress.send(send(n, header)));
    }
    await ingress.refuses(
      send(9, (good) => `v0=${good}`),
      401,
    );
    const bodies = ["evt_made_up_new", "evt_made_up_old"].map((id) => utf8(JSON.stringify({ id })));
    const [byNew, byOld] = [
      signed("stripe", bodies[0] as Uint8Array),
      signed("stripe", bodies[1] as Uint8Array, { secret: old }),
    ];
    await ingress.stored(await ingress.send(byNew));
    await ingress.stored(await ingress.send(byOld));
    const rotated = await receiver(start, {
      sources: { stripe: { provider: "stripe", secret: STRIPE_SECRET } },
    });
    await rotated.stored(await rotated.send(byNew));
    await rotated.refuses(byOld, 401);
  });

  it("H-13 takes hex in any case, behind the prefix in any case, with white space around it; never sha1", async () => {
    const ingress = await receiver(start);
    const mixed = (text: string) => [...text].map((c, n) => (n % 2 ? c.toUpperCase() : c)).join("");
    const spellings: ((digest: string) => string)[] = [
      (digest) => digest,
      (digest) => digest.toUpperCase(),
      mixed,
      (digest) => `sha256=${digest}`,
      (digest) => `SHA256=${digest}`,
      (digest) => ` \tsha256=${digest} `,
    ];
    for (const [n, spell] of spellings.entries()) {
      const body = utf8(`{"spelling":${n}}`);
      const headers = { "x-signature": spell(hex(body)) };
      await ingress.stored(await ingress.send({ path: "/webhooks", headers, body }));
    }
    const body = utf8('{"spelling":"sha1"}');
    const sha1 = createHmac("sha1", SECRET).update(body).digest("hex");
    for (const value of [`sha1=${sha1}`, sha1, `sha1=${hex(body)}`, `sha256=sha256=${hex(body)}`]) {
      await ingress.refuses({ path: "/webhooks", headers: { "x-signature": value }, body }, 401);
    }
  });

  it("H-14 answers 401 to signatures of every wrong length, and lives on", async () => {
    const ingress = await receiver(start);
    const body = utf8('{"length":true}');
    const good = `sha256=${hex(body)}`;
    const refused: (string | readonly string[] | undefined)[] = [
      ...[0, 1, 63, 65, 10_000].flatMap((length) => ["0".repeat(length), `sha256=${"0".repeat(length)}`]),
      undefined,
      [good, "sha256=00"],
      [good, good],
    ];
    for (const value of refused) {
      const headers = value === undefined ? {} : { "x-signature": value };
      await ingress.refuses({ path: "/webhooks", headers, body }, 401);
      await ingress.stored(await ingress.send(signed("hmac", utf8(`{"after":${refused.indexOf(value)}}`))));
    }
    expect(ingress.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("H-15 never takes what an empty, missing or guessable secret signed", async () => {
    const ingress = await receiver(start);
    const body = utf8('{"guess":true}');
    for (const guess of ["", "undefined", "null", "secret", " "]) {
      await ingress.refuses({ path: "/webhooks", headers: { "x-signature": hex(body, guess) }, body }, 401);
    }
  });

  it("H-16 keeps test mode and live mode apart", async () => {
    const [live, test] = ["whsec_made_up_live", "whsec_made_up_test"];
    const body = (livemode: boolean) => utf8(JSON.stringify({ id: `evt_made_up_${livemode}`, livemode }));
    const at = (path: string, livemode: boolean) =>
      signed("stripe", body(livemode), { path, secret: livemode ? live : test });

    // (a) One source for each mode, as the docs recommend: what is signed for the other is refused.
    const apart = await receiver(start, {
      sources: {
        stripe: { provider: "stripe", secret: live },
        "stripe-test": { provider: "stripe", secret: test },
      },
    });
    await apart.refuses(at("/webhooks/stripe", false), 401);
    await apart.refuses(at("/webhooks/stripe-test", true), 401);
    expect(apart.lines).toMatchObject([
      { message: "signature refused", source: "stripe", reason: "wrong_signature" },
      { message: "signature refused", source: "stripe-test", reason: "wrong_signature" },
    ]);
    await apart.stored(await apart.send(at("/webhooks/stripe", true)));
    await apart.stored(await apart.send(at("/webhooks/stripe-test", false)));
    const ran: unknown[] = [];
    const handlers: HandlerMap = {
      stripe: (event) => void ran.push(["live handler", event.json()]),
      "stripe-test": (event) => void ran.push(["test handler", event.json()]),
    };
    const worker = createWorker(handlers, {
      ...{ redis: sharedRedisUrl(), prefix: apart.prefix, log: silentLog },
    });
    onTestFinished(() => worker.close());
    await worker.start();
    await waitUntil(() => ran.length === 2, { what: "both are handled" });
    expect(ran).toEqual(
      expect.arrayContaining([
        ["live handler", { id: "evt_made_up_true", livemode: true }],
        ["test handler", { id: "evt_made_up_false", livemode: false }],
      ]),
    );

    // (b) Both secrets on one source: both are taken, and the job says which by its signed body.
    const together = await receiver(start, {
      sources: { stripe: { provider: "stripe", secret: [live, test] } },
    });
    for (const livemode of [true, false]) {
      const { bytes } = await together.stored(await together.send(at("/webhooks/stripe", livemode)));
      expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ livemode });
    }
  });

  it("H-17 gives two endpoints of one provider a secret each", async () => {
    const [platform, connect, renewed] = [
      "whsec_made_up_platform",
      "whsec_made_up_connect",
      "whsec_made_up_new",
    ];
    const sources = (first: string) =>
      ({
        platform: { provider: "stripe", secret: first },
        connect: { provider: "stripe", secret: connect },
      }) as const;
    let n = 0;
    const delivery = (name: string, secret: string) =>
      signed("stripe", utf8(`{"id":"evt_made_up_h17_${n++}"}`), { path: `/webhooks/${name}`, secret });
    const ingress = await receiver(start, { sources: sources(platform) });
    await ingress.stored(await ingress.send(delivery("platform", platform)));
    await ingress.stored(await ingress.send(delivery("connect", connect)));
    await ingress.refuses(delivery("platform", connect), 401);
    await ingress.refuses(delivery("connect", platform), 401);
    expect(ingress.lines.filter(({ level }) => level === "warn").map(({ source }) => source)).toEqual([
      "platform",
      "connect",
    ]);
    expect(JSON.stringify(ingress.lines)).not.toMatch(/whsec_/);
    const rotated = await receiver(start, { sources: sources(renewed) });
    await rotated.stored(await rotated.send(delivery("platform", renewed)));
    await rotated.refuses(delivery("platform", platform), 401);
    await rotated.stored(await rotated.send(delivery("connect", connect)));
  });

  it("H-18 follows the rotation runbook with no refused delivery at any step", async () => {
    const [old, renewed] = ["made-up-secret-before", "made-up-secret-renewed"];
    const config = {
      sources: {
        default: { provider: "hmac", secret: env("WEBHOOK_SECRET"), previousSecret: env("PREVIOUS") },
      },
    } as const;
    let n = 0;
    const delivery = (secret: string) => signed("hmac", utf8(`{"n":${n++}}`), { secret });
    const before = await receiver(start, { ...config, env: { WEBHOOK_SECRET: old } });
    await before.stored(await before.send(delivery(old)));
    // Step 1: both are valid, on the new process; the old one still answers what the sender signs.
    const during = await receiver(start, { ...config, env: { WEBHOOK_SECRET: renewed, PREVIOUS: old } });
    await before.stored(await before.send(delivery(old)));
    for (const signer of [old, renewed]) await during.stored(await during.send(delivery(signer)));
    // Steps 2 and 3: the sender changes over, and its retries still carry the old one.
    for (const signer of [renewed, old]) await during.stored(await during.send(delivery(signer)));
    // Step 4.
    const after = await receiver(start, { ...config, env: { WEBHOOK_SECRET: renewed, PREVIOUS: "" } });
    await after.stored(await after.send(delivery(renewed)));
    await after.refuses(delivery(old), 401);
  });

  it("H-19 takes a timestamp up to 300 s away in both directions, and none that is no number", async () => {
    const nowMs = 1_796_083_200_500;
    const ingress = await receiver(start, {
      sources: { stripe: { provider: "stripe", secret: STRIPE_SECRET } },
      now: () => nowMs,
    });
    for (const skewS of [-301, -300, -299, -1, 0, 1, 299, 300, 301]) {
      const delivery = signed("stripe", utf8(`{"id":"evt_made_up_${skewS}"}`), {
        nowMs: nowMs + skewS * 1000,
      });
      if (Math.abs(skewS) > 300) await ingress.refuses(delivery, 401);
      else await ingress.stored(await ingress.send(delivery));
    }
    const nowS = String(Math.floor(nowMs / 1000));
    for (const t of [
      "",
      "abc",
      `${nowS}abc`,
      "123abc",
      "1e9",
      String(nowMs),
      `-${nowS}`,
      ` ${nowS} 1`,
      "NaN",
    ]) {
      const body = utf8(`{"id":"evt_made_up_garbage"}`);
      const v1 = createHmac("sha256", STRIPE_SECRET).update(`${t}.`).update(body).digest("hex");
      const headers = { "stripe-signature": `t=${t},v1=${v1}` };
      await ingress.refuses({ path: "/webhooks/stripe", headers, body }, 401);
    }
  });

  it("H-19 replays a dead letter of three days ago without asking its timestamp again", async () => {
    const threeDaysAgo = Date.now() - 3 * 86_400_000;
    const ingress = await receiver(start, {
      sources: { stripe: { provider: "stripe", secret: STRIPE_SECRET } },
      now: () => threeDaysAgo,
    });
    const delivery = signed("stripe", utf8('{"id":"evt_made_up_old"}'), { nowMs: threeDaysAgo });
    const { jobId } = await ingress.stored(await ingress.send(delivery));
    const runs: string[] = [];
    const worker = createWorker(
      (event) => {
        runs.push(event.id);
        if (runs.length === 1) throw new Unrecoverable("made-up");
      },
      { redis: sharedRedisUrl(), prefix: ingress.prefix, log: silentLog },
    );
    onTestFinished(() => worker.close());
    await worker.start();
    const place = { redis: sharedRedisUrl(), prefix: ingress.prefix };
    const replayed = await waitUntil(
      async () => {
        const result = await replayDeadLetter(jobId, { ...place, log: silentLog });
        return result.replayed && result;
      },
      { what: "the dead letter is there and replayed" },
    );
    expect(replayed).toMatchObject({ replayed: true, jobId });
    await waitUntil(() => runs.length === 2, { what: "it runs again" });
    expect(runs).toEqual([jobId, jobId]);
  });
});

const all = ["hmac", "stripe", "github", "standard-webhooks"] as const;

it.each(all)(
  "H-10 refuses to start with what a paste adds to a secret of %s, and names the variable",
  (provider) => {
    const config = { sources: { hook: { provider, secret: env("HOOK_SECRET") } } };
    const secret = "whsec_bWFkZS11cC1zZWNyZXQ=";
    for (const pasted of [`${secret}\n`, ` ${secret} `, `"${secret}"`]) {
      const found = problems(config, { HOOK_SECRET: pasted });
      expect(found).toEqual([expect.stringMatching(/^HOOK_SECRET (has white space around it|is in quotes)/)]);
      expect(() => createServer({ ...config, env: { HOOK_SECRET: pasted } })).toThrow(ConfigError);
    }
    expect(problems(config, { HOOK_SECRET: secret })).toEqual([]);
  },
);

it("H-10 keeps the white space inside a secret", () => {
  const secret = "made  up\tsecret";
  const config = { sources: { hook: { provider: "hmac", secret } } };
  expect(resolveConfig(config).sources.get("hook")?.secrets).toEqual([secret]);
});

it.each(all)("H-11 says at the start what is wrong with a secret of %s, and never prints it", (provider) => {
  for (const [wrong, what] of [
    ["v1,whsec_bWFkZS11cA==", /signature's version/],
    ["sk_live_made_up_for_the_tests", /API key/],
    ["https://example.com/made-up", /URL/],
    ["abc", /shorter|signing secret/],
  ] as const) {
    const found = problems({ sources: { hook: { provider, secret: wrong } } });
    expect(found).toEqual([expect.stringMatching(what)]);
    expect(found[0]).toContain(`provider ${provider}`);
    expect(found[0]).not.toContain(wrong);
  }
});

it("H-15 refuses to start without a secret, whatever the other sources have", () => {
  for (const secret of [undefined, "", "  ", "\n"]) {
    const sources = {
      good: { provider: "hmac", secret: SECRET },
      hook: { provider: "github", secret: env("HOOK_SECRET") },
    };
    const found = problems({ sources }, { HOOK_SECRET: secret });
    expect(found).toEqual([expect.stringMatching(/^HOOK_SECRET is (not set|empty)/)]);
  }
});

it("H-18 says at the start which secrets are valid, by fingerprints that give nothing away", () => {
  const secrets = { WEBHOOK_SECRET: "made-up-secret-renewed", PREVIOUS: "made-up-secret-before" };
  const config = {
    sources: {
      default: { provider: "hmac", secret: env("WEBHOOK_SECRET"), previousSecret: env("PREVIOUS") },
    },
  };
  const [served] = servedSources(resolveConfig(config, secrets));
  expect(served).toEqual({
    source: "default",
    provider: "hmac",
    secrets: [expect.stringMatching(/^[0-9a-f]{8}$/), expect.stringMatching(/^[0-9a-f]{8}$/)],
  });
  expect(new Set(served?.secrets).size).toBe(2);
  const [after] = servedSources(resolveConfig(config, { WEBHOOK_SECRET: secrets.WEBHOOK_SECRET }));
  expect(after?.secrets).toEqual([served?.secrets[0]]);
});
