import { createHmac, randomUUID } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";

/** The secrets of user-code/anvil.config.ts, by the name that `sst secret set` takes. */
export const senderSecrets = {
  WebhookSecret: "made-up-secret-of-the-tests",
  StripeSecret: "whsec_made_up_of_stripe",
  GithubSecret: "made-up-of-github",
  PartnerSecret: "whsec_bWFkZS11cC1vZi10aGUtcGFydG5lcnMtc2VjcmV0",
  AnvilEncryptionKey: Buffer.from("made-up-key-of-thirty-two-bytes!").toString("base64"),
} as const;

export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Each signs a delivery as its provider's own SDK does, anew each time, with what the provider sends beside it. */
export const senders = {
  async default(body: string): Promise<Delivery> {
    const signature = createHmac("sha256", senderSecrets.WebhookSecret).update(body).digest("hex");
    return { path: "/webhooks", body, headers: { "x-signature": `sha256=${signature}` } };
  },

  async stripe(body: string, timestamp = Math.floor(Date.now() / 1_000)): Promise<Delivery> {
    const header = new Stripe("sk_test_made_up").webhooks.generateTestHeaderString({
      payload: body,
      secret: senderSecrets.StripeSecret,
      timestamp,
    });
    return { path: "/webhooks/stripe", body, headers: { "stripe-signature": header } };
  },

  async github(body: string): Promise<Delivery> {
    return {
      path: "/webhooks/github",
      body,
      headers: {
        "x-hub-signature-256": await sign(senderSecrets.GithubSecret, body),
        "x-github-delivery": randomUUID(),
        "x-github-event": "push",
      },
    };
  },

  async partner(body: string): Promise<Delivery> {
    const [id, now] = [`msg_${randomUUID()}`, new Date()];
    return {
      path: "/webhooks/partner",
      body,
      headers: {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
        "webhook-signature": new Webhook(senderSecrets.PartnerSecret).sign(id, now, body),
      },
    };
  },
} satisfies Record<string, (body: string) => Promise<Delivery>>;
