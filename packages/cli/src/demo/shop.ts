import type { Handler } from "webhook-anvil";

/** Events of this type fail in the demo whatever happens, so that there is a dead letter to look at. */
export const FAILING_TYPE = "demo.fail";

/** What the demo's handler pretends to be: a shop that books orders, and payments with a bank that may be down. */
export type Shop = {
  bankIsUp: boolean;
  readonly handle: Handler;
};

export function openShop(): Shop {
  const shop: Shop = {
    bankIsUp: true,
    handle(event) {
      if (event.type === FAILING_TYPE) throw new Error("made to fail");
      if (event.type === "payment.captured" && !shop.bankIsUp) throw new Error("the bank doesn't answer");
    },
  };
  return shop;
}
