import { createHash, createHmac } from "node:crypto";
import { formOf } from "../form.ts";
import { textAt, valuesAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import type { Received } from "../received.ts";
import { equalBytes } from "../schemes/equal-bytes.ts";
import { emptyAnswer, type Handshake, jsonAnswer, plainToken, queryOf, textAnswer } from "./handshake.ts";

/** https://docs.slack.dev/reference/events/url_verification */
export const slackHandshake: Handshake = {
  signed(received) {
    const payload = lazyPayload(received)();
    if (textAt(payload, "type") !== "url_verification") return undefined;
    const challenge = plainToken(textAt(payload, "challenge"));
    return challenge === undefined ? undefined : textAnswer(challenge);
  },
};

/** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */
export const metaHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { verifyToken }) {
    const query = queryOf(head);
    if (head.method !== "GET" || query.get("hub.mode") !== "subscribe") return undefined;
    const token = query.get("hub.verify_token");
    const challenge = plainToken(query.get("hub.challenge"));
    const right = verifyToken !== undefined && token !== null && sameText(token, verifyToken);
    return right && challenge !== undefined ? textAnswer(challenge) : textAnswer("refused", 403);
  },
};

/** https://www.w3.org/TR/websub/#hub-verifies-intent */
export const websubHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { topics = [], verifyToken }) {
    const query = queryOf(head);
    const mode = query.get("hub.mode");
    if (head.method !== "GET" || (mode !== "subscribe" && mode !== "unsubscribe")) return undefined;
    const challenge = plainToken(query.get("hub.challenge"));
    const known = topics.includes(query.get("hub.topic") ?? "");
    // A topic that isn't ours any more is one to unsubscribe from.
    const wanted = mode === "subscribe" ? known : !known;
    // Hubs of PubSubHubbub 0.3 send it; who configures one wants it checked.
    const token = query.get("hub.verify_token") ?? "";
    if (verifyToken !== undefined && !sameText(token, verifyToken)) return textAnswer("refused", 404);
    return wanted && challenge !== undefined ? textAnswer(challenge) : textAnswer("refused", 404);
  },
};

/**
 * A check that the secret is known, asked every hour by anybody. The same secret signs deliveries: the token is held to
 * plain characters, and a body of such characters is no delivery.
 * https://docs.x.com/x-api/webhooks/quickstart
 */
export const xHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { secrets: [secret] }) {
    const token = plainToken(queryOf(head).get("crc_token"), 200);
    if (head.method !== "GET" || token === undefined || secret === undefined) return undefined;
    const digest = createHmac("sha256", secret).update(token).digest("base64");
    return jsonAnswer({ response_token: `sha256=${digest}` });
  },
  couldSign: isPlain,
};

/**
 * Also asked again every 72 hours. Deliveries are signed as `v0:<time>:<body>`; without a colon a token can't be one.
 * https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
 */
export const zoomHandshake: Handshake = {
  unsigned: (received, { secrets: [secret] }) => zoomAnswer(lazyPayload(received)(), secret),
  signed: (received, { secrets: [secret] }) => zoomAnswer(lazyPayload(received)(), secret),
  couldSign: isPlain,
};

function zoomAnswer(payload: unknown, secret: string | undefined) {
  if (textAt(payload, "event") !== "endpoint.url_validation" || secret === undefined) return undefined;
  const token = plainToken(textAt(payload, "payload.plainToken"), 200);
  if (token === undefined) return undefined;
  const encryptedToken = createHmac("sha256", secret).update(token).digest("hex");
  return jsonAnswer({ plainToken: token, encryptedToken });
}

/** https://learn.microsoft.com/graph/change-notifications-delivery-webhooks#notificationurl-validation */
export const microsoftGraphHandshake: Handshake = {
  beforeBody(head) {
    const token = queryOf(head).get("validationToken");
    // It holds spaces and may hold markup: whatever it is, it is answered as text that no browser renders.
    return head.method === "POST" && token !== null && token.length <= 2_000 ? textAnswer(token) : undefined;
  },
};

/** https://www.dropbox.com/developers/reference/webhooks#documentation */
export const dropboxHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head) {
    const challenge = plainToken(queryOf(head).get("challenge"));
    return head.method === "GET" && challenge !== undefined ? textAnswer(challenge) : undefined;
  },
};

/**
 * Told by the body, which is signed. The header that names the type isn't: whoever sends a captured notification again
 * could set it. https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#responding-to-a-challenge-request
 */
export const twitchHandshake: Handshake = {
  signed(received) {
    const payload = lazyPayload(received)();
    const challenge = plainToken(textAt(payload, "challenge"));
    const [event] = valuesAt(payload, "event");
    const [events] = valuesAt(payload, "events");
    const isEvent = event !== undefined || events !== undefined;
    return challenge === undefined || isEvent ? undefined : textAnswer(challenge);
  },
};

/** https://developer.okta.com/docs/concepts/event-hooks/#one-time-verification-request */
export const oktaHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { secrets }) {
    const challenge = plainToken(head.header("x-okta-verification-challenge"));
    if (head.method !== "GET" || challenge === undefined) return undefined;
    const token = head.header("authorization");
    const right = token !== undefined && secrets.some((secret) => sameText(token, secret));
    return right ? jsonAnswer({ verification: challenge }) : textAnswer("refused", 401);
  },
};

/**
 * Sends the secret that it will sign with, and wants it back. It is the operator's to keep: the answer to the request
 * that creates the webhook has it too. https://developers.asana.com/docs/webhooks-guide#the-webhook-handshake
 *
 * An empty list is its heartbeat, every eight hours: as an event it would have no type and nothing to handle.
 */
export const asanaHandshake: Handshake = {
  beforeBody(head) {
    const secret = plainToken(head.header("x-hook-secret"), 200);
    if (head.method !== "POST" || secret === undefined || head.header("x-hook-signature")) return undefined;
    return emptyAnswer(200, { "x-hook-secret": secret });
  },
  signed: emptyListAnswer,
};

/** The button that verifies a URL sends an empty list. https://developers.line.biz/en/docs/messaging-api/receiving-messages/ */
export const lineHandshake: Handshake = { signed: emptyListAnswer };

function emptyListAnswer(received: Received) {
  const [events] = valuesAt(lazyPayload(received)(), "events");
  return Array.isArray(events) && events.length === 0 ? emptyAnswer() : undefined;
}

/** Asks by HEAD whether anybody is there: Trello, Intercom. */
export const headHandshake: Handshake = {
  methods: ["HEAD"],
  beforeBody: (head) => (head.method === "HEAD" ? emptyAnswer() : undefined),
};

/**
 * Where HEAD doesn't get through, an empty list is posted, signed with the key `test-webhook`. There is nothing in it to
 * be stored. https://mandrill.zendesk.com/hc/en-us/articles/360038740014
 */
export const mandrillHandshake: Handshake = {
  ...headHandshake,
  signedOtherwise: mandrillAnswer,
  signed: mandrillAnswer,
};

function mandrillAnswer(received: Received) {
  const form = [...formOf(received)];
  const [name, value] = form[0] ?? [];
  return form.length === 1 && name === "mandrill_events" && value === "[]" ? emptyAnswer() : undefined;
}

/**
 * PING of interactions (1) and of webhook events (0). A webhook event has type 1 as well, and tells itself by its
 * `event`. https://docs.discord.com/developers/interactions/overview and /events/webhook-events
 */
export const discordHandshake: Handshake = {
  signed(received) {
    const payload = lazyPayload(received)();
    const [type] = valuesAt(payload, "type");
    const [event] = valuesAt(payload, "event");
    if (event !== undefined) return undefined;
    if (type === 1) return jsonAnswer({ type: 1 });
    return type === 0 ? emptyAnswer(204) : undefined;
  },
};

/** By the form of a region: `sns.s3.amazonaws.com` would be anybody's bucket. */
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;

/** A topic's messages begin once its URL was called. https://docs.aws.amazon.com/sns/latest/dg/http-subscription-confirmation-json.html */
export const snsHandshake: Handshake = {
  signed(received) {
    const payload = lazyPayload({ body: received.body, header: () => undefined })();
    if (textAt(payload, "Type") !== "SubscriptionConfirmation") return undefined;
    const visit = textAt(payload, "SubscribeURL") ?? "";
    const right =
      /^https:\/\/[\w.-]+\/\?[\w=&%.:/+-]+$/.test(visit) && SNS_HOST.test(new URL(visit).hostname);
    return right ? { visit, answer: emptyAnswer() } : textAnswer("refused", 400);
  },
};

/** Sent unsigned when a webhook is saved: a form with its number. Nothing is done about it. */
export const woocommerceHandshake: Handshake = {
  unsigned(received) {
    const form = [...formOf(received)];
    const [name, value] = form[0] ?? [];
    const ping = form.length === 1 && name === "webhook_id" && /^\d{1,20}$/.test(value ?? "");
    return ping ? emptyAnswer() : undefined;
  },
};

/**
 * The challenge is short hex, as its SDK 3.40.0 checks too. The same key signs payloads, which are XML in base64: one
 * that is short hex is none.
 */
export const braintreeHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { secrets: [secret = ""] }) {
    const challenge = queryOf(head).get("bt_challenge") ?? "";
    const [publicKey, privateKey] = secret.split("|");
    if (head.method !== "GET" || !isBraintreeChallenge(challenge) || !privateKey) return undefined;
    const key = createHash("sha1").update(privateKey).digest();
    return textAnswer(`${publicKey}|${createHmac("sha1", key).update(challenge).digest("hex")}`);
  },
  couldSign: (received) =>
    formOf(received)
      .getAll("bt_payload")
      .map((text) => text.trim())
      .some(isBraintreeChallenge),
};

function isBraintreeChallenge(text: string): boolean {
  return /^[a-f0-9]{20,32}$/.test(text);
}

function isPlain({ body }: Pick<Received, "body">): boolean {
  return plainToken(new TextDecoder().decode(body.subarray(0, 1_000))) !== undefined;
}

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return equalBytes(digest(a), digest(b));
}
