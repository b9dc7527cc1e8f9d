import { dice } from "./chance.ts";

/** One event of a run, as its provider would make it. */
export interface Order {
  /** In the whole run, and in every delivery of it. */
  readonly id: string;
  /** `signed` is identified by signature and body; `stripe` by its id, and signed anew for each delivery. */
  readonly source: "signed" | "stripe";
  /** So many times the payment provider is down for it, before it isn't. */
  readonly refusals: number;
  /** The card is refused for good: its place is among the dead letters. */
  readonly declined: boolean;
  /** The first answer to its charge is lost on the way, after the charge was made. */
  readonly answerLost: boolean;
  readonly body: string;
}

/** What a sender does with an order, beside trying until it is accepted. */
export interface Delivery {
  readonly order: Order;
  /** Delivered so many times more at the same moment, as a provider does that has given up waiting. */
  readonly twins: number;
  /** And again later, so many milliseconds after it was accepted. */
  readonly laterMs: readonly number[];
  /** Somebody also sends it with a false signature. */
  readonly forgery: "none" | "other secret" | "changed body";
}

/** The n-th delivery of a run: a function of seed and n, whatever the order in which they are made. */
export function deliveryOf(seed: number, n: number): Delivery {
  const random = dice(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b));
  const source = random.pick(["signed", "stripe"] as const);
  const declined = random.percent(2);
  // Five refusals use up the schedule: then it takes a replay.
  const refusals = declined ? 0 : random.percent(10) ? random.between(1, 4) : random.percent(8) ? 5 : 0;
  const id = `order-${seed}-${n}`;
  const order = { id, refusals, declined, answerLost: random.percent(5) };
  const body = JSON.stringify({
    id: `evt_${seed}_${n}`,
    type: "charge.requested",
    // What survives a round trip through parsers only if nothing parses it: spaces, escapes, an emoji.
    note: random.pick(["plain", "caf\u00e9 \u{1f600}", "line\u2028separator"]),
    data: order,
  });
  return {
    order: { ...order, source, body: random.percent(20) ? `${body}\r\n` : body },
    twins: random.percent(15) ? random.between(1, 3) : 0,
    laterMs: random.percent(25)
      ? Array.from({ length: random.between(1, 3) }, () => random.between(0, 3_000))
      : [],
    forgery: random.percent(3) ? random.pick(["other secret", "changed body"] as const) : "none",
  };
}
