import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the outside world saw of the handlers' work. Kept here, where no fault reaches. */
export interface PaymentApi {
  readonly url: string;
  /** Charges made, by order: more than one means that a customer paid twice. */
  charges(): ReadonlyMap<string, number>;
  /** Steps that ran again in a run that began after their result was stored. */
  repeatedSteps(): readonly string[];
  stop(): Promise<void>;
}

interface OrderBooks {
  readonly keys: Set<string>;
  refused: number;
  answersLost: number;
  /** Whose result is stored, and when, by the count of requests. */
  readonly stored: Map<string, number>;
}

/**
 * A payment provider with an idempotency key, as Stripe's: the same key is the same charge, and gets the same
 * answer. It can be down for an order, decline it, and lose an answer. Handlers also report here when a run begins
 * and how far it came, by which a step that ran again is found.
 */
export async function startPaymentApi(): Promise<PaymentApi> {
  const orders = new Map<string, OrderBooks>();
  const runs = new Map<string, number>();
  const repeated: string[] = [];
  let clock = 0;
  const booksOf = (order: string): OrderBooks => {
    const books = orders.get(order) ?? { keys: new Set(), refused: 0, answersLost: 0, stored: new Map() };
    orders.set(order, books);
    return books;
  };

  const routes: Readonly<Record<string, (call: Call, outgoing: ServerResponse) => void>> = {
    "/run-began": ({ run }, outgoing) => {
      runs.set(run, clock);
      answer(outgoing, 200);
    },
    "/step-stored": ({ order, step = "" }, outgoing) => {
      const { stored } = booksOf(order);
      if (!stored.has(step)) stored.set(step, clock);
      answer(outgoing, 200);
    },
    "/charges": (call, outgoing) => {
      const books = booksOf(call.order);
      noteStep(call, books, "charge");
      if (call.declined) return answer(outgoing, 402);
      if (books.refused < (call.refusals ?? 0)) {
        books.refused += 1;
        return answer(outgoing, 503);
      }
      books.keys.add(call.key ?? "");
      if (call.answerLost && books.answersLost === 0) {
        books.answersLost += 1;
        outgoing.destroy();
        return;
      }
      answer(outgoing, 200, { charge: `ch_${call.order}` });
    },
    "/mails": (call, outgoing) => {
      noteStep(call, booksOf(call.order), "mail");
      answer(outgoing, 200, { sent: true });
    },
  };

  function noteStep({ order, run }: Call, { stored }: OrderBooks, step: string): void {
    const storedAt = stored.get(step);
    const began = runs.get(run);
    if (storedAt !== undefined && began !== undefined && began > storedAt) {
      repeated.push(`${order}: "${step}" ran again in a run that began after its result was stored`);
    }
  }

  const server = createServer((incoming, outgoing) => {
    bodyOf(incoming)
      .then((call) => {
        clock += 1;
        const route = routes[incoming.url ?? ""];
        if (route) route(call, outgoing);
        else answer(outgoing, 404);
      })
      // The caller was killed while it was sending.
      .catch(() => outgoing.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    charges: () => new Map([...orders].map(([order, { keys }]) => [order, keys.size])),
    repeatedSteps: () => repeated,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a handler sends with every request. */
interface Call {
  readonly order: string;
  /** Of one attempt in one process. */
  readonly run: string;
  readonly step?: string;
  readonly key?: string;
  readonly refusals?: number;
  readonly declined?: boolean;
  readonly answerLost?: boolean;
}

async function bodyOf(incoming: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call;
}

function answer(outgoing: ServerResponse, status: number, body: unknown = {}): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
