import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/** More requests than this in one turn of the event loop come from nobody who waits for an answer. */
const MAX_IN_A_TURN = 8;

/**
 * Closes connections on which requests are piled up. Node answers all that it reads from one connection, megabytes
 * of small requests, before it looks at the next: a few that pipeline would keep every other sender, and Redis's
 * answers, waiting for seconds (measured: minutes). Proxies and senders of webhooks don't pipeline, and HTTP lets a
 * server close at any time.
 */
export function withoutPileUps(listener: RequestListener): RequestListener {
  let turn = 0;
  let ending = false;
  const seen = new WeakMap<Socket, { turn: number; requests: number }>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    // The rest of what was read when it was closed.
    if (socket.destroyed) return;
    if (!ending) {
      ending = true;
      setImmediate(() => {
        ending = false;
        turn += 1;
      });
    }
    const before = seen.get(socket);
    const requests = before?.turn === turn ? before.requests + 1 : 1;
    if (requests > MAX_IN_A_TURN) {
      socket.destroy();
      return;
    }
    seen.set(socket, { turn, requests });
    listener(incoming, outgoing);
  };
}
