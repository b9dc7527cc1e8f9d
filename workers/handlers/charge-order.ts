import type { Handler } from "webhook-anvil/worker";

/** What is asked of a payment provider: one that recognises a request by its key, as Stripe and Adyen do. */
export type Payments = {
  charge(
    order: unknown,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<{ readonly charge: string }>;
};

export type Mailer = {
  sendReceipt(order: unknown, charge: string, options: { readonly signal: AbortSignal }): Promise<void>;
};

/**
 * Charges once, whatever dies. The result of a step is stored with the job, so a later attempt or a replay doesn't
 * charge again; and where the process dies between the charge and the storing of its result, the payment provider
 * recognises the same key. `npm run chaos` kills this handler, and counts the charges.
 */
export function chargeOrder(payments: Payments, mailer: Mailer): Handler {
  return async (event, { step, idempotencyKey, signal }) => {
    const { data: order } = event.json() as { data: unknown };
    const { charge } = await step("charge", () => payments.charge(order, { idempotencyKey, signal }));
    await step("mail", () => mailer.sendReceipt(order, charge, { signal }));
  };
}
