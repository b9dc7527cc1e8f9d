import { expect, test } from "vitest";
import { type Provider, providers, signRequest, verifyRequest } from "webhook-anvil/signatures";
import { onlyTheirs } from "./only-theirs.ts";
import { fileEvent, sampleEvent } from "./sample-event.ts";

const NOW = Date.UTC(2025, 11, 1);
const URL = "https://hooks.example.com/webhooks/test";

const ownRow: Provider = {
  name: "own",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-own-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{header:x-own-nonce}.{body}",
  },
  identity: [{ header: "x-own-id" }, { body: "meta.id" }],
  type: [{ header: "x-own-topic" }, { body: "meta.action" }],
  keepHeaders: [],
  docs: "https://example.com",
};

const rows = [...providers.values(), ownRow].filter((provider) => onlyTheirs(provider) === undefined);

/** The forms that another text isn't in. */
const SECRETS: Readonly<Record<string, string>> = {
  adyen: "00112233445566778899aabbccddeeff",
  braintree: "a-public-key|a-private-key",
  chargebee: "user:password-of-the-tests",
  contentful: "s".repeat(64),
};

function secretOf({ name }: Provider): string {
  return SECRETS[name] ?? `whsec_${Buffer.from("a secret of the tests").toString("base64")}`;
}

async function verified(provider: Provider, type?: string) {
  const event = sampleEvent(provider, type, NOW);
  const secret = secretOf(provider);
  const signed = signRequest(provider, { url: URL, ...event }, secret, { nowMs: NOW });
  const verdict = await verifyRequest(provider, signed, { secrets: [secret], now: NOW });
  return { event, signed, verdict };
}

test.each(rows)("an event of $name is taken for one, id and type included", async (provider) => {
  const { event, verdict } = await verified(provider);
  expect(verdict).toMatchObject({ ok: true });
  const { eventId, type } = verdict as { eventId?: string; type?: string };
  if (provider.identity && provider.identity !== "each-delivery") expect(eventId).toBeTruthy();
  if (!provider.type) return;
  expect(type).toBe(event.type);
  expect((await verified(provider, "thing.happened")).verdict).toMatchObject({ type: "thing.happened" });
});

test.each(rows)("each event of $name is a new one", async (provider) => {
  const [one, two] = [await verified(provider), await verified(provider)];
  const identityOf = ({ verdict, signed }: typeof one) =>
    (verdict as { eventId?: string }).eventId ?? Buffer.from(signed.body).toString();
  expect(identityOf(one)).not.toBe(identityOf(two));
});

test("a row with a plain token has an event, too", async () => {
  const gitlab = providers.get("gitlab") as Provider;
  const event = sampleEvent(gitlab, undefined, NOW);
  const signed = signRequest(gitlab, event, "a-token-of-the-tests", { nowMs: NOW });
  expect(signed.headers).toMatchObject({ "x-gitlab-token": "a-token-of-the-tests" });
  const options = { secrets: ["a-token-of-the-tests"], now: NOW };
  expect(await verifyRequest(gitlab, signed, options)).toMatchObject({ ok: true, type: "push" });
});

test("what only the provider can sign is named, with what to do instead", () => {
  const theirs = [...providers.values()].filter((provider) => onlyTheirs(provider) !== undefined);
  expect(theirs.map(({ name }) => name)).toEqual(["sendgrid", "discord", "plaid", "paypal", "aws-sns"]);
  for (const provider of theirs) {
    expect(onlyTheirs(provider)).toMatch(/^only [\w-]+ can sign .* Instead, (?!have it).*anvil verify/);
  }
});

test("the bytes of a file stay as they are; only headers can carry a type for them", () => {
  const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
  const [hmac, github] = [providers.get("hmac"), providers.get("github")] as [Provider, Provider];
  expect(fileEvent(hmac, bytes, undefined)?.body).toBe(bytes);
  expect(fileEvent(hmac, bytes, "order.created")).toBeUndefined();
  expect(fileEvent(github, bytes, "push")?.headers).toMatchObject({ "x-github-event": "push" });
});
