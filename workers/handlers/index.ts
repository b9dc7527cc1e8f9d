import type { HandlerMap } from "webhook-anvil/worker";
import { printEvent } from "./print-event.ts";

/**
 * Your code. By source, or by source and type:
 *
 *   stripe: { "invoice.paid": fulfilOrder, "customer.*": syncCustomer, "*": () => {} },
 *
 * An event that no entry matches becomes a dead letter, so that nothing is lost silently.
 */
const handlers: HandlerMap = {
  "*": printEvent,
};

export default handlers;
