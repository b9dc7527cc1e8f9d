import { describe, expect, it } from "vitest";
import { splitDelivery } from "../batch.ts";
import { isNeverRepeated, readEventFields } from "../fields.ts";
import { utf8 } from "../fixtures.ts";
import { handshakeOf } from "../handshakes/index.ts";
import { headerLookup } from "../headers.ts";
import type { Provider } from "../provider.ts";
import { providerProblems } from "../provider-schema.ts";
import { resolveConfig } from "../sources.ts";
import { type ProviderName, providers } from "./index.ts";

const row = (name: ProviderName) => providers.get(name) as Provider;
const form = { "content-type": "application/x-www-form-urlencoded" };

function received(body: object | string, headers: Record<string, string> = {}) {
  return {
    body: utf8(typeof body === "string" ? body : JSON.stringify(body)),
    header: headerLookup(headers),
  };
}

const read = (name: ProviderName, ...delivery: Parameters<typeof received>) =>
  readEventFields(row(name), received(...delivery));

describe("every row", () => {
  it.each([...providers.values()])("$name is one that its user could have written", (provider) => {
    expect(providerProblems(provider)).toEqual([]);
    expect(provider.docs).toMatch(/^https:\/\/\S+$/);
    expect(provider.keepHeaders.filter((name) => /auth|cookie|secret|token$|signature$/.test(name))).toEqual(
      // The one that is no credential: the same for all tries of one request.
      provider.name === "twilio" ? ["i-twilio-idempotency-token"] : [],
    );
  });

  it.each([...providers.values()])(
    "$name keeps the headers that name its events",
    ({ identity, type, keepHeaders }) => {
      const named = [identity, type]
        .flat(3)
        .flatMap((field) => (typeof field === "object" && "header" in field ? [field.header] : []));
      expect(keepHeaders).toEqual(expect.arrayContaining(named));
    },
  );
});

describe("identity and type of deliveries as providers send them", () => {
  const graph = { subscriptionId: "sub", resource: "me/messages/1", changeType: "updated", clientState: "s" };
  const zendesk = { "x-zendesk-webhook-invocation-id": "01FD" };
  const zoom = (object: object) => ({ event: "meeting.started", event_ts: 5, payload: { object } });

  it.each<[ProviderName, string, Parameters<typeof received>, { eventId?: string; type?: string }]>([
    [
      "slack",
      "an event",
      [{ type: "event_callback", event_id: "Ev1", event: { type: "app_mention" } }],
      { eventId: "Ev1", type: "event_callback.app_mention" },
    ],
    [
      "slack",
      "a button: JSON in a field of a form",
      [`payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"1.2.a"}')}`, form],
      { eventId: "1.2.a", type: "block_actions" },
    ],
    [
      "slack",
      "a slash command",
      ["command=%2Fdeploy&text=now&trigger_id=1.2.b", form],
      { eventId: "1.2.b", type: "/deploy" },
    ],
    [
      "shopify",
      "headers of either family",
      [{}, { "shopify-webhook-id": "w1", "shopify-topic": "orders/create", "shopify-event-id": "e1" }],
      { eventId: "w1", type: "orders/create" },
    ],
    [
      "twilio",
      "its token",
      ["MessageSid=SM1&MessageStatus=sent", { ...form, "i-twilio-idempotency-token": "t1" }],
      { eventId: "t1", type: "sent" },
    ],
    [
      "twilio",
      "a message's state",
      ["MessageSid=SM1&MessageStatus=delivered&SmsStatus=delivered", form],
      { eventId: '["SM1","delivered"]', type: "delivered" },
    ],
    [
      "twilio",
      "a call's state",
      ["CallSid=CA1&CallStatus=completed&SequenceNumber=3", form],
      { eventId: '["CA1","completed","3"]', type: "completed" },
    ],
    ["twilio", "a message that came in", ["MessageSid=SM1&SmsStatus=received", form], { type: "received" }],
    ["microsoft-graph", "an id", [{ value: [{ ...graph, id: "n0" }] }], { eventId: "n0", type: "updated" }],
    [
      "microsoft-graph",
      "an etag",
      [{ value: [{ ...graph, resourceData: { "@odata.etag": "W/2" } }] }],
      { eventId: '["sub","me/messages/1","updated","W/2"]', type: "updated" },
    ],
    ["microsoft-graph", "neither", [{ value: [graph] }], { type: "updated" }],
    [
      "microsoft-graph",
      "an etag in one item only",
      [{ value: [graph, { ...graph, resourceData: { "@odata.etag": "W/2" } }] }],
      { type: "updated" },
    ],
    [
      "microsoft-graph",
      "an end of its subscription",
      [{ value: [{ id: "n1", lifecycleEvent: "missed" }] }],
      { eventId: "n1", type: "missed" },
    ],
    [
      "zendesk",
      "an event",
      [{ id: "cbe4", type: "zen:event-type:ticket.created", time: "2025-10-09T08:53:20Z" }, zendesk],
      {
        eventId: '["cbe4","zen:event-type:ticket.created","2025-10-09T08:53:20Z"]',
        type: "zen:event-type:ticket.created",
      },
    ],
    ["zendesk", "a trigger, whose id is a ticket's", [{ id: "35436" }, zendesk], { eventId: "01FD" }],
    [
      "zoom",
      "a meeting",
      [zoom({ uuid: "m1" })],
      { eventId: '["meeting.started","5","m1"]', type: "meeting.started" },
    ],
    [
      "zoom",
      "who came",
      [zoom({ uuid: "m1", participant: { user_id: "u1" } })],
      { eventId: '["meeting.started","5","m1","u1"]', type: "meeting.started" },
    ],
    [
      "woocommerce",
      "an order",
      [{ id: 7 }, { "x-wc-webhook-delivery-id": "d1", "x-wc-webhook-topic": "order.created" }],
      { eventId: '["d1","order.created","7"]', type: "order.created" },
    ],
    [
      "gitlab",
      "a signed id before an unsigned one",
      [{ object_kind: "push" }, { "webhook-id": "a", "idempotency-key": "b" }],
      { eventId: "a", type: "push" },
    ],
    [
      "gitlab",
      "a token's delivery",
      [{ object_kind: "push" }, { "idempotency-key": "b", "x-gitlab-event-uuid": "c" }],
      { eventId: "b", type: "push" },
    ],
    [
      "telegram",
      "an update",
      [{ update_id: 9, callback_query: {} }],
      { eventId: "9", type: "callback_query" },
    ],
    [
      "x",
      "what it is about",
      [{ for_user_id: "1", tweet_create_events: [] }],
      { type: "tweet_create_events" },
    ],
    ["dropbox", "a signal", [{ list_folder: { accounts: [] }, delta: {} }], { type: "list_folder" }],
    ["discord", "an interaction", [{ id: "1", type: 2 }], { eventId: "1", type: "2" }],
    [
      "discord",
      "a webhook event",
      [{ type: 1, event: { type: "ENTITLEMENT_CREATE" } }],
      { type: "ENTITLEMENT_CREATE" },
    ],
    [
      "asana",
      "a change",
      [{ events: [{ action: "changed", resource: { gid: "1", resource_type: "task" } }] }],
      { type: "task.changed" },
    ],
    [
      "sendgrid",
      "the ids of a batch, in its order",
      [
        [
          { sg_event_id: "b", event: "open" },
          { sg_event_id: "a", event: "click" },
        ],
      ],
      { eventId: '["b","a"]', type: "open" },
    ],
    ["sendgrid", "a batch with an event that has none", [[{ sg_event_id: "b" }, {}]], {}],
    [
      "line",
      "a batch",
      [{ events: [{ webhookEventId: "e1", type: "message" }] }],
      { eventId: "e1", type: "message" },
    ],
  ])("%s: %s", (name, _, delivery, expected) => {
    expect(read(name, ...delivery)).toEqual(expected);
  });

  it("Meta, split: messages and statuses of WhatsApp by their ids, however they are cut", () => {
    const message = { changes: [{ field: "messages", value: { messages: [{ id: "wamid.1" }] } }] };
    const status = {
      changes: [{ field: "messages", value: { statuses: [{ id: "wamid.1", status: "read" }] } }],
    };
    const feed = { changes: [{ field: "feed", value: { item: "post" } }] };
    const batch = row("meta").batch as NonNullable<Provider["batch"]>;
    const items = splitDelivery(batch, {
      method: "POST",
      url: "",
      ...received({ entry: [message, status, feed] }),
    });
    expect(items?.map(({ eventId, type }) => [eventId, type])).toEqual([
      ["wamid.1", "messages"],
      ['["wamid.1","read"]', "messages"],
      [undefined, "feed"],
    ]);
  });

  it.each(["asana", "line"] as const)("%s: an empty list is answered, and a full one is an event", (name) => {
    const answer = (body: object | string) =>
      handshakeOf(row(name))?.signed?.({ method: "POST", url: "", ...received(body) }, { secrets: [] });
    expect(answer({ destination: "U1", events: [] })).toMatchObject({ status: 200, body: "" });
    for (const body of [{ events: [{}] }, {}, { events: {} }, [], ""]) expect(answer(body)).toBeUndefined();
  });

  it("equal bodies are two events where they are signals, and nowhere else", () => {
    const signals = [...providers.values()].filter(isNeverRepeated).map(({ name }) => name);
    expect(signals).toEqual(["dropbox", "microsoft-graph", "woocommerce"]);
  });
});

describe("secrets that people have at hand and that are others", () => {
  it.each<[ProviderName, string, string]>([
    ["slack", "xoxb-made-up-token", "is a token; the app's signing secret is wanted"],
    ["slack", "xapp-made-up-token", "is a token; the app's signing secret is wanted"],
    ["shopify", "shpat_made_up", "is an access token; the app's client secret is wanted"],
    ["twilio", `AC${"0".repeat(32)}`, "is the id of an account or key; the auth token is wanted"],
    ["github", "ghp_made_up", "is an access token; the webhook's secret is wanted"],
    ["github", "github_pat_made_up", "is an access token; the webhook's secret is wanted"],
    ["discord", "made-up-bot-token", "is not a public key in 64 digits of hex"],
    ["discord", "00".repeat(31), "is not a public key in 64 digits of hex"],
    ["paypal", "made_up client secret", "is not a webhook id"],
    ["aws-sns", "made-up-topic", "is no ARN of a topic"],
    ["chargebee", "made-up-password", "is not user:password"],
    ["braintree", "made-up-private-key", "is not the public and the private key"],
    ["adyen", "made-up-hmac-key", "is not hex"],
    ["svix", "whsk_bWFkZSB1cA==", "is a private key"],
    ["clerk", "whpk_bWFkZSB1cA==", "is not base64 behind whsec_"],
    ["polar", "whpk_bWFkZSB1cA==", "is an asymmetric key"],
    ["openai", "whpk_bWFkZSB1cA==", "is an asymmetric key"],
    ["liveblocks", "bWFkZSB1cCBzZWNyZXQ=", "is not base64 behind whsec_"],
  ])("%s: %s %s", (provider, secret, problem) => {
    const url = "https://hooks.example.com/webhooks/it";
    const resolve = () => resolveConfig({ sources: { it: { provider, secret, url } } });
    expect(resolve).toThrow(`sources.it.secret ${problem}`);
    expect(resolve).not.toThrow(secret);
  });
});
