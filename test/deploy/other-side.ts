import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What the handlers of user-code/ pass on. */
interface PassedOn {
  readonly jobId: string;
  readonly source: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly body: string;
  /** Whether it has been answered, or the handler gave up before. */
  outcome: "under way" | "answered" | "given up";
}

export interface OtherSide {
  /** To be named in an event as `passOnTo`. */
  readonly url: string;
  readonly received: readonly PassedOn[];
  /** What is answered from now on: 204 at once, unless it says otherwise. */
  answers(how: { status?: number; afterMs?: number }): void;
  stop(): Promise<void>;
}

/** Whom the handlers in a container call: what they did is seen here, outside of it and of Redis. */
export async function startOtherSide(): Promise<OtherSide> {
  const received: PassedOn[] = [];
  let how: { status?: number; afterMs?: number } = {};
  const server = createServer(async (incoming, outgoing) => {
    const { status = 204, afterMs = 0 } = how;
    const header = (name: string) => String(incoming.headers[name] ?? "");
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const call: PassedOn = {
      jobId: header("job-id"),
      source: header("source"),
      attempt: Number(header("attempt")),
      idempotencyKey: header("idempotency-key"),
      body: Buffer.concat(chunks).toString(),
      outcome: "under way",
    };
    received.push(call);
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    await delay(afterMs, undefined, { signal: gone.signal }).catch(() => {});
    call.outcome = gone.signal.aborted ? "given up" : "answered";
    outgoing.writeHead(status).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    answers(next) {
      how = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
