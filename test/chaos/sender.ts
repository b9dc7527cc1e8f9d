import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Accountant, Heard } from "anvil-testkit";
import { dice } from "./chance.ts";
import { type Delivery, deliveryOf, type Order } from "./orders.ts";

interface Secrets {
  readonly signed: string;
  readonly stripe: string;
}

export interface SenderOptions {
  readonly seed: number;
  readonly events: number;
  /** New events in a second, at most. */
  readonly rate: number;
  readonly urls: readonly string[];
  readonly secrets: Secrets;
  readonly books: Accountant;
  /** Told before each event is sent for the first time; sending waits for it. */
  readonly onEvent: (n: number) => Promise<void>;
}

/** Longer than any answer may take; what is cut off here counts as an answer that was too slow. */
const PATIENCE_MS = 10_000;
/** A provider tries for days; a run is shorter, and so are the pauses between its tries. */
const TRY_FOR_MS = 120_000;

/**
 * Sends every event as its provider would: again until it is accepted, sometimes twice at once, sometimes again
 * later, and now and then somebody forges one. Every delivery and its answer goes into the books.
 * @returns how many events were given up
 */
export async function sendAll(options: SenderOptions): Promise<{ givenUp: number }> {
  const { seed, events, rate, onEvent } = options;
  const started = performance.now();
  const underWay = new Set<Promise<void>>();
  let givenUp = 0;
  for (let n = 0; n < events; n++) {
    const early = (n / rate) * 1_000 - (performance.now() - started);
    if (early > 1) await delay(early);
    // Many wait for an ingress that is down; without end, they would be a load test.
    while (underWay.size > 200) await Promise.race(underWay);
    await onEvent(n);
    const sending = sendOne(deliveryOf(seed, n), n, options).then((accepted) => {
      if (!accepted) givenUp += 1;
    });
    underWay.add(sending);
    void sending.finally(() => underWay.delete(sending));
  }
  await Promise.all(underWay);
  return { givenUp };
}

async function sendOne(delivery: Delivery, n: number, options: SenderOptions): Promise<boolean> {
  const { order, twins, laterMs, forgery } = delivery;
  const random = dice(n);
  if (forgery !== "none") await post(order, forgery, random.pick(options.urls), options);
  const accepted = await Promise.all(
    Array.from({ length: 1 + twins }, () => untilAccepted(order, random.fork(), options)),
  );
  for (const ms of laterMs) {
    await delay(ms);
    accepted.push(await untilAccepted(order, random.fork(), options));
  }
  return accepted.every(Boolean);
}

async function untilAccepted(
  order: Order,
  random: ReturnType<typeof dice>,
  options: SenderOptions,
): Promise<boolean> {
  const started = performance.now();
  while (performance.now() - started < TRY_FOR_MS) {
    const heard = await post(order, "none", random.pick(options.urls), options);
    if (heard !== "nothing" && heard.status === 202) return true;
    await delay(random.between(50, 400));
  }
  return false;
}

async function post(
  order: Order,
  forgery: Delivery["forgery"],
  url: string,
  { secrets, books }: SenderOptions,
): Promise<Heard> {
  const genuine = forgery === "none";
  const body = forgery === "changed body" ? order.body.replace("charge.", "refund.") : order.body;
  const secret = forgery === "other secret" ? "made-up-and-not-the-secret" : secrets[order.source];
  const heard = await request(`${url}/webhooks/${order.source}`, body, sign(order, secret));
  books.record({ event: order.id, body: Buffer.from(body), genuine }, heard);
  return heard;
}

/** The signature is over the real body: a changed one is refused for it. */
function sign({ source, body }: Order, secret: string): Record<string, string> {
  const hmac = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  if (source === "signed") return { "x-signature": `sha256=${hmac(body)}` };
  const timestamp = Math.floor(Date.now() / 1000);
  return { "stripe-signature": `t=${timestamp},v1=${hmac(`${timestamp}.${body}`)}` };
}

async function request(url: string, body: string, headers: Record<string, string>): Promise<Heard> {
  const started = performance.now();
  try {
    const answer = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const told = (await answer.json()) as { jobId?: string; replayed?: boolean };
    const { jobId, replayed } = told;
    return {
      status: answer.status,
      ...(jobId === undefined ? {} : { jobId }),
      ...(replayed === undefined ? {} : { replayed }),
      tookMs: performance.now() - started,
    };
  } catch (error) {
    // A connection that breaks is a killed ingress; one that says nothing is an answer that never came.
    if ((error as Error).name === "TimeoutError") return { status: 504, tookMs: PATIENCE_MS };
    return "nothing";
  }
}
