import { Unrecoverable } from "webhook-anvil";
import type { Handler, HandlerMap } from "webhook-anvil/worker";

/**
 * Takes the place of the checkout's own in what the tests deploy. It passes each event on to the address that the
 * event names, so that the test sees what arrived, and decides by its answer how long it takes and what becomes of it.
 */
const passOn: Handler = async (event, { attempt, idempotencyKey, signal }) => {
  const { passOnTo } = event.json() as { passOnTo: string };
  const answer = await fetch(passOnTo, {
    method: "POST",
    body: event.bytes as Uint8Array<ArrayBuffer>,
    headers: {
      "job-id": event.id,
      source: event.source,
      attempt: String(attempt),
      "idempotency-key": idempotencyKey,
    },
    signal,
  });
  if (answer.status === 422) throw new Unrecoverable("the other side will never take it");
  if (!answer.ok) throw new Error(`the other side answered ${answer.status}`);
};

const handlers: HandlerMap = { "*": passOn };

export default handlers;
