import { createHash, createHmac } from "node:crypto";
import { formOf } from "../form.ts";
import { textAt, valuesAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
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
  beforeBody(head, { topics = [] }) {
    const query = queryOf(head);
    const mode = query.get("hub.mode");
    if (head.method !== "GET" || (mode !== "subscribe" && mode !== "unsubscribe")) return undefined;
    const challenge = plainToken(query.get("hub.challenge"));
    const known = topics.includes(query.get("hub.topic") ?? "");
    // A topic that isn't ours any more is one to unsubscribe from.
    const wanted = mode === "subscribe" ? known : !known;
    return wanted && challenge !== undefined ? textAnswer(challenge) : textAnswer("refused", 404);
  },
};

/**
 * A check that the secret is known, asked every hour. The token is held to plain characters: the same secret signs
 * deliveries, which begin with a brace, and this must not sign one for whoever asks.
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
};

/**
 * Also asked again every 72 hours. Deliveries are signed as `v0:<time>:<body>`; without a colon a token can't be one.
 * https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
 */
export const zoomHandshake: Handshake = {
  unsigned: (received, { secrets: [secret] }) => zoomAnswer(lazyPayload(received)(), secret),
  signed: (received, { secrets: [secret] }) => zoomAnswer(lazyPayload(received)(), secret),
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

/** The header that says so isn't signed; the challenge in the body is. https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#responding-to-a-challenge-request */
export const twitchHandshake: Handshake = {
  signed(received) {
    const type = received.header("twitch-eventsub-message-type");
    if (type !== "webhook_callback_verification") return undefined;
    const challenge = plainToken(textAt(lazyPayload(received)(), "challenge"));
    return challenge === undefined ? undefined : textAnswer(challenge);
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
 */
export const asanaHandshake: Handshake = {
  beforeBody(head) {
    const secret = plainToken(head.header("x-hook-secret"), 200);
    if (head.method !== "POST" || secret === undefined || head.header("x-hook-signature")) return undefined;
    return emptyAnswer(200, { "x-hook-secret": secret });
  },
};

/** Asks by HEAD whether anybody is there: Trello, Intercom, Mandrill. */
export const headHandshake: Handshake = {
  methods: ["HEAD"],
  beforeBody: (head) => (head.method === "HEAD" ? emptyAnswer() : undefined),
};

/**
 * PING of interactions (1) and of webhook events (0). https://docs.discord.com/developers/interactions/overview and
 * /events/webhook-events
 */
export const discordHandshake: Handshake = {
  signed(received) {
    const payload = lazyPayload(received)();
    const [type] = valuesAt(payload, "type");
    if (type === 1) return jsonAnswer({ type: 1 });
    return type === 0 ? emptyAnswer(204) : undefined;
  },
};

const SNS_HOST = /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/;

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

/** The challenge is short hex, as its SDK 3.40.0 checks too: a payload in base64 of XML can't be one. */
export const braintreeHandshake: Handshake = {
  methods: ["GET"],
  beforeBody(head, { secrets: [secret = ""] }) {
    const challenge = queryOf(head).get("bt_challenge") ?? "";
    const [publicKey, privateKey] = secret.split("|");
    if (head.method !== "GET" || !/^[a-f0-9]{20,32}$/.test(challenge) || !privateKey) return undefined;
    const key = createHash("sha1").update(privateKey).digest();
    return textAnswer(`${publicKey}|${createHmac("sha1", key).update(challenge).digest("hex")}`);
  },
};

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return equalBytes(digest(a), digest(b));
}
