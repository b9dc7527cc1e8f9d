import { randomBytes, randomUUID } from "node:crypto";

type Sample = {
  /** When none is asked for. */
  readonly type?: string;
  /** An id in the provider's form. */
  readonly newId?: () => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the provider sends, cut down; id and type are put in afterwards. */
  readonly payload?: (type: string, nowMs: number) => Record<string, unknown>;
};

/** By the provider's name. */
export const samples: Readonly<Record<string, Sample>> = {
  hmac: {
    type: "order.created",
    payload: (type, nowMs) => ({
      id: id("evt"),
      type,
      createdAt: new Date(nowMs).toISOString(),
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
      created: Math.floor(nowMs / 1000),
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
  "standard-webhooks": {
    type: "invoice.paid",
    newId: () => id("msg"),
    payload: (type, nowMs) => ({
      type,
      timestamp: new Date(nowMs).toISOString(),
      data: { invoiceId: id("inv"), amount: 4200, currency: "EUR" },
    }),
  },
};

function id(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}
