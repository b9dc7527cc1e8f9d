import { randomUUID } from "node:crypto";
import { type Handler, Unrecoverable } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import { chargeOrder } from "../../../workers/handlers/charge-order.ts";
import { reach } from "../../processes/die-at.ts";
import { joinFleet, onStop, tellReady } from "./fleet-member.ts";
import { timedLog } from "./timed-log.ts";

/** A worker of a chaos run. Environment: REDIS_URL, PREFIX, PAYMENTS_URL, OPTIONS (JSON). */
joinFleet();
const { REDIS_URL = "", PREFIX = "", PAYMENTS_URL = "", OPTIONS = "{}" } = process.env;

const handler: Handler = async (event, context) => {
  const run = randomUUID();
  const { data } = event.json() as { data: { id: string } };
  const about = { ...data, order: data.id, run };
  await call("/run-began", about);
  await chargeOrder(
    {
      async charge(_, { idempotencyKey, signal }) {
        reach("before", "handler-effect");
        const answer = await call("/charges", { ...about, key: idempotencyKey }, signal);
        reach("after", "handler-effect");
        if (answer.status === 402) throw new Unrecoverable("the card was declined");
        if (answer.status !== 200) throw new Error(`the payment provider answered ${answer.status}`);
        return (await answer.json()) as { charge: string };
      },
    },
    {
      async sendReceipt(_order, _charge, { signal }) {
        await call("/step-stored", { ...about, step: "charge" });
        await call("/mails", about, signal);
      },
    },
  )(event, context);
  await call("/step-stored", { ...about, step: "mail" });
};

function call(path: string, about: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${PAYMENTS_URL}${path}`, {
    method: "POST",
    body: JSON.stringify(about),
    signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(10_000)]) : AbortSignal.timeout(10_000),
  });
}

const worker = createWorker(handler, {
  redis: REDIS_URL,
  prefix: PREFIX,
  log: timedLog,
  ...JSON.parse(OPTIONS),
});
onStop(() => worker.close());
tellReady();
await worker.start();
