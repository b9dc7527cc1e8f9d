import { dieAt } from "../../processes/die-at.ts";

/** What the fleet tells a member, over the channel that `fork` gave it. */
type Order = { readonly dieAt: string };
/** What a member tells the fleet, once it works. */
export type Ready = { readonly ready: true; readonly port?: number };

/**
 * Makes this process one of the fleet: it dies where it is told to, and with its parent. Call it before anything
 * connects.
 */
export function joinFleet(): void {
  dieAt();
  process.on("message", (order: Order) => dieAt(order.dieAt));
  process.on("disconnect", () => process.exit(1));
}

export function tellReady(port?: number): void {
  const ready: Ready = { ready: true, ...(port === undefined ? {} : { port }) };
  process.send?.(ready);
}

/** SIGTERM, as an orchestrator sends it: finish, then go. */
export function onStop(close: () => Promise<void>): void {
  process.once("SIGTERM", () => void close().then(() => process.exit(0)));
}
