import { expect, test } from "vitest";
import { type Provider, providers, signDelivery, verifyRequest } from "webhook-anvil/signatures";
import { fileEvent, sampleEvent } from "./sample-event.ts";

const NOW = Date.UTC(2025, 11, 1);
const SECRET = "whsec_YS1zZWNyZXQtb2YtdGhlLXRlc3Rz";

const [hmac, stripe, github, standardWebhooks] = ["hmac", "stripe", "github", "standard-webhooks"].map(
  (name) => providers.get(name),
) as [Provider, Provider, Provider, Provider];

const ownRow: Provider = {
  name: "own",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-own-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ header: "x-own-id" }, { body: "meta.id" }],
  type: [{ header: "x-own-topic" }, { body: "meta.action" }],
  keepHeaders: [],
  docs: "https://example.com",
};

/** Those that are sent as a JSON body with a signature in a header. */
const rows = [hmac, stripe, github, standardWebhooks, ownRow];

async function verified(provider: Provider, type?: string) {
  const event = sampleEvent(provider, type, NOW);
  const headers = signDelivery(provider, event.body, SECRET, { nowMs: NOW, headers: event.headers });
  const options = { secrets: [SECRET], now: NOW };
  return { event, verdict: await verifyRequest(provider, { headers, body: event.body }, options) };
}

test.each(rows)("an event of $name is taken for one, id and type included", async (provider) => {
  const { event, verdict } = await verified(provider);
  expect(verdict).toMatchObject({ ok: true });
  const { eventId, type } = verdict as { eventId?: string; type?: string };
  if (provider.identity) expect(eventId).toBeTruthy();
  if (provider.type) expect(type).toBe(event.type);
  const asked = (await verified(provider, "thing.happened")).verdict;
  if (provider.type) expect(asked).toMatchObject({ type: "thing.happened" });
});

test.each(rows)("each event of $name is a new one", async (provider) => {
  const [one, two] = [await verified(provider), await verified(provider)];
  const identityOf = ({ verdict, event }: typeof one) =>
    (verdict as { eventId?: string }).eventId ?? Buffer.from(event.body).toString();
  expect(identityOf(one)).not.toBe(identityOf(two));
});

test("the bytes of a file stay as they are; only headers can carry a type for them", () => {
  const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
  const [hmac, github] = [providers.get("hmac"), providers.get("github")] as [Provider, Provider];
  expect(fileEvent(hmac, bytes, undefined)?.body).toBe(bytes);
  expect(fileEvent(hmac, bytes, "order.created")).toBeUndefined();
  expect(fileEvent(github, bytes, "push")?.headers).toMatchObject({ "x-github-event": "push" });
});
