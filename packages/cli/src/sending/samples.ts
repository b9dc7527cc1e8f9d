import { randomBytes, randomInt, randomUUID } from "node:crypto";

type Payload = Record<string, unknown> | Record<string, unknown>[];

export type Sample = {
  /** When none is asked for. */
  readonly type?: string;
  /** An id in the provider's form. */
  readonly newId?: () => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the provider sends, cut down; id and type are put in afterwards, an id only where there is none yet. */
  readonly payload?: (type: string, nowMs: number) => Payload;
  /** How the payload is written. Default: `json`. */
  readonly as?: "form" | "xml";
};

/** By the provider's name. */
export const samples: Readonly<Record<string, Sample>> = {
  hmac: {
    type: "order.created",
    payload: (type, nowMs) => ({
      id: id("evt"),
      type,
      createdAt: iso(nowMs),
      data: { orderId: 1001, amount: 4200, currency: "EUR" },
    }),
  },
  stripe: {
    type: "invoice.paid",
    newId: () => id("evt"),
    headers: { "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)" },
    payload: (type, nowMs) => ({
      id: "",
      object: "event",
      type,
      created: seconds(nowMs),
      livemode: false,
      pending_webhooks: 1,
      data: {
        object: { id: id("in"), object: "invoice", amount_paid: 4200, currency: "eur", status: "paid" },
      },
    }),
  },
  github: {
    type: "issues.opened",
    newId: randomUUID,
    headers: { "user-agent": "GitHub-Hookshot/anvil", "x-github-hook-id": "1" },
    payload: () => ({
      issue: { number: 1, title: "A test event", state: "open" },
      repository: { full_name: "octocat/hello-world" },
      sender: { login: "octocat" },
    }),
  },
  gitlab: {
    type: "push",
    newId: randomUUID,
    headers: { "x-gitlab-event": "Push Hook", "x-gitlab-instance": "https://gitlab.example.com" },
    payload: () => ({
      ref: "refs/heads/main",
      user_username: "octocat",
      project: { path_with_namespace: "group/project" },
      total_commits_count: 1,
    }),
  },
  "standard-webhooks": standardWebhook("invoice.paid"),
  svix: standardWebhook("invoice.paid"),
  clerk: standardWebhook("user.created"),
  resend: standardWebhook("email.delivered"),
  openai: standardWebhook("response.completed"),
  polar: standardWebhook("order.paid"),
  slack: {
    type: "event_callback.app_mention",
    newId: () => `Ev${word()}`,
    payload: (_, nowMs) => ({
      team_id: "T0TEST",
      api_app_id: "A0TEST",
      event: {
        user: "U0TEST",
        text: "<@U0BOT> a test event",
        channel: "C0TEST",
        ts: `${seconds(nowMs)}.000100`,
      },
      event_time: seconds(nowMs),
    }),
  },
  shopify: {
    type: "orders/create",
    newId: randomUUID,
    headers: { "x-shopify-shop-domain": "a-test-shop.myshopify.com", "x-shopify-api-version": "2025-10" },
    payload: (_, nowMs) => ({
      id: number(),
      created_at: iso(nowMs),
      currency: "EUR",
      total_price: "42.00",
      line_items: [{ title: "A test item", quantity: 1 }],
      test: true,
    }),
  },
  twilio: {
    type: "onMessageAdded",
    newId: randomUUID,
    as: "form",
    payload: () => ({
      MessageSid: `SM${randomBytes(16).toString("hex")}`,
      AccountSid: `AC${"0".repeat(32)}`,
      From: "+15005550006",
      To: "+15005550001",
      Body: "A test message",
      NumMedia: "0",
    }),
  },
  paddle: {
    type: "transaction.completed",
    newId: () => id("evt"),
    payload: (_, nowMs) => ({
      notification_id: id("ntf"),
      occurred_at: iso(nowMs),
      data: { id: id("txn"), status: "completed", currency_code: "EUR" },
    }),
  },
  square: {
    type: "payment.updated",
    newId: randomUUID,
    payload: (_, nowMs) => ({
      merchant_id: "TESTMERCHANT",
      created_at: iso(nowMs),
      data: {
        type: "payment",
        id: word(),
        object: { payment: { status: "COMPLETED", amount_money: { amount: 4200, currency: "EUR" } } },
      },
    }),
  },
  linear: {
    type: "Issue.create",
    newId: randomUUID,
    payload: (_, nowMs) => ({
      createdAt: iso(nowMs),
      organizationId: randomUUID(),
      data: { id: randomUUID(), title: "A test issue" },
    }),
  },
  hubspot: {
    type: "contact.creation",
    payload: (_, nowMs) => [
      { portalId: 1, objectId: number(), occurredAt: nowMs, attemptNumber: 0, changeSource: "CRM" },
    ],
  },
  adyen: {
    type: "AUTHORISATION",
    newId: () => word().toUpperCase(),
    payload: (_, nowMs) => ({
      live: "false",
      notificationItems: [
        {
          NotificationRequestItem: {
            pspReference: "",
            merchantAccountCode: "TestMerchant",
            merchantReference: "order-1001",
            amount: { value: 4200, currency: "EUR" },
            eventDate: iso(nowMs),
            success: "true",
          },
        },
      ],
    }),
  },
  razorpay: {
    type: "payment.captured",
    newId: word,
    payload: (_, nowMs) => ({
      entity: "event",
      account_id: "acc_test",
      created_at: seconds(nowMs),
      payload: {
        payment: { entity: { id: `pay_${word()}`, amount: 4200, currency: "INR", status: "captured" } },
      },
    }),
  },
  meta: {
    type: "whatsapp_business_account.messages",
    payload: (_, nowMs) => ({
      entry: [
        {
          id: "1",
          changes: [
            {
              value: {
                messaging_product: "whatsapp",
                messages: [
                  {
                    id: `wamid.${word()}`,
                    from: "15005550006",
                    timestamp: String(seconds(nowMs)),
                    type: "text",
                    text: { body: "A test message" },
                  },
                ],
              },
            },
          ],
        },
      ],
    }),
  },
  twitch: {
    type: "stream.online",
    newId: randomUUID,
    headers: { "twitch-eventsub-message-type": "notification", "twitch-eventsub-message-retry": "0" },
    payload: (_, nowMs) => ({
      subscription: { id: randomUUID(), status: "enabled", version: "1" },
      event: { id: word(), broadcaster_user_login: "a_test", type: "live", started_at: iso(nowMs) },
    }),
  },
  x: {
    type: "tweet_create_events",
    payload: (type, nowMs) => ({
      for_user_id: "1",
      [type]: [{ id_str: String(number()), text: "A test post", timestamp_ms: String(nowMs) }],
    }),
  },
  dropbox: {
    type: "list_folder",
    payload: (type) => ({ [type]: { accounts: [`dbid:${word()}`] }, delta: { users: [1] } }),
  },
  telegram: {
    type: "message",
    payload: (type, nowMs) => ({
      update_id: "",
      [type]: {
        message_id: 1,
        date: seconds(nowMs),
        chat: { id: 1, type: "private" },
        text: "A test message",
      },
    }),
  },
  "microsoft-graph": {
    type: "updated",
    newId: randomUUID,
    payload: () => ({
      value: [{ subscriptionId: randomUUID(), tenantId: randomUUID(), resource: "me/messages/1" }],
    }),
  },
  intercom: {
    type: "conversation.user.created",
    newId: () => id("notif"),
    payload: (_, nowMs) => ({
      type: "notification_event",
      created_at: seconds(nowMs),
      delivery_attempts: 1,
      data: { item: { type: "conversation", id: word() } },
    }),
  },
  zendesk: {
    type: "zen:event-type:ticket.created",
    newId: () => word().toUpperCase(),
    payload: (_, nowMs) => ({
      id: randomUUID(),
      time: iso(nowMs),
      detail: { id: String(number()), subject: "A test ticket", status: "NEW" },
    }),
  },
  zoom: {
    type: "meeting.started",
    newId: () => randomBytes(16).toString("base64"),
    payload: (_, nowMs) => ({
      event_ts: nowMs,
      payload: { account_id: "test", object: { topic: "A test meeting", start_time: iso(nowMs) } },
    }),
  },
  typeform: {
    type: "form_response",
    newId: () => word().toUpperCase(),
    payload: (_, nowMs) => ({
      form_response: { form_id: "test", token: word(), submitted_at: iso(nowMs), answers: [] },
    }),
  },
  calendly: {
    type: "invitee.created",
    newId: () => `https://api.calendly.com/scheduled_events/${randomUUID()}`,
    payload: (_, nowMs) => ({
      created_at: iso(nowMs),
      payload: { name: "A Test", email: "test@example.com", status: "active" },
    }),
  },
  gocardless: {
    type: "payments.confirmed",
    newId: () => `EV${word()}`,
    payload: (_, nowMs) => ({
      events: [{ created_at: iso(nowMs), links: { payment: "PM0TEST" } }],
      meta: { webhook_id: `WB${word()}` },
    }),
  },
  line: {
    type: "message",
    newId: () => randomBytes(13).toString("hex").toUpperCase(),
    payload: (_, nowMs) => ({
      destination: "U0TEST",
      events: [
        {
          timestamp: nowMs,
          mode: "active",
          source: { type: "user", userId: "U1TEST" },
          message: { type: "text", id: String(number()), text: "A test message" },
          deliveryContext: { isRedelivery: false },
        },
      ],
    }),
  },
  mailgun: {
    type: "delivered",
    newId: word,
    payload: (_, nowMs) => ({
      signature: { token: randomBytes(25).toString("hex") },
      "event-data": { timestamp: seconds(nowMs), recipient: "test@example.com" },
    }),
  },
  mandrill: {
    as: "form",
    payload: (_, nowMs) => ({
      mandrill_events: JSON.stringify([
        { event: "send", _id: word(), ts: seconds(nowMs), msg: { email: "test@example.com", state: "sent" } },
      ]),
    }),
  },
  braintree: {
    as: "xml",
    payload: (_, nowMs) => ({ kind: "check", timestamp: iso(nowMs), subject: randomUUID() }),
  },
  trello: {
    type: "updateCard",
    payload: (_, nowMs) => ({
      action: { date: iso(nowMs), data: { card: { name: "A test card" } } },
      model: { id: word() },
    }),
  },
  asana: {
    type: "task.changed",
    payload: (_, nowMs) => ({
      events: [
        { user: { gid: String(number()) }, created_at: iso(nowMs), resource: { gid: String(number()) } },
      ],
    }),
  },
  docusign: {
    type: "envelope-completed",
    newId: randomUUID,
    payload: (_, nowMs) => ({
      apiVersion: "v2.1",
      generatedDateTime: iso(nowMs),
      retryCount: 0,
      data: { accountId: randomUUID() },
    }),
  },
  woocommerce: {
    type: "order.created",
    payload: (_, nowMs) => ({
      id: number(),
      status: "processing",
      currency: "EUR",
      total: "42.00",
      date_created: iso(nowMs),
    }),
  },
  sanity: {
    type: "create",
    newId: word,
    payload: () => ({ _id: randomUUID(), _type: "post", title: "A test document" }),
  },
};

/** Of all who send Standard Webhooks, under whichever names of the headers. */
function standardWebhook(type: string): Sample {
  return {
    type,
    newId: () => id("msg"),
    payload: (asked, nowMs) => ({
      type: asked,
      timestamp: iso(nowMs),
      data: { id: id("obj"), amount: 4200, currency: "EUR" },
    }),
  };
}

function id(prefix: string): string {
  return `${prefix}_${word()}`;
}

function word(): string {
  return randomBytes(12).toString("hex");
}

function number(): number {
  return randomInt(1, 1e9);
}

function seconds(nowMs: number): number {
  return Math.floor(nowMs / 1_000);
}

function iso(nowMs: number): string {
  return new Date(nowMs).toISOString();
}
