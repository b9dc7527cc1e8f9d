import { appendFileSync, closeSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Handler } from "webhook-anvil/worker";
import { effect } from "./die-at.ts";

/**
 * What an event may ask of the handler: `kill` ends the process in the middle of it, `takeMs` takes so long,
 * `blockMs` blocks the event loop for so long, `fail` fails the first so many attempts, and `charge` charges a
 * payment API that takes a key once: by `"key"` with the idempotency key, by `"step"` in a step and without a key,
 * with `stepMs` between the charge and the end of the step. The step's result is the process that took it.
 */
type Wish = {
  kill?: boolean;
  takeMs?: number;
  blockMs?: number;
  fail?: number;
  charge?: "key" | "step";
  stepMs?: number;
};

/** A handler whose runs leave lines in a file, outside Redis: `started <job> <attempt>`, `charged <job>`, … */
export function handlerOnRequest(effects: string): Handler {
  const note = (line: string): void => appendFileSync(effects, `${line}\n`);

  /** The file system is the payment API: a key that is there already is a charge that was made already. */
  const chargeOnce = (jobId: string, key: string): void => {
    try {
      closeSync(openSync(`${effects}.${key}`, "wx"));
    } catch {
      return;
    }
    note(`charged ${jobId}`);
  };

  return async (event, { attempt, idempotencyKey, signal, step }) => {
    const { kill, takeMs, blockMs, fail = 0, charge, stepMs = 0 } = event.json() as Wish;
    note(`started ${event.id} ${attempt}`);
    signal.addEventListener("abort", () => note(`aborted ${event.id} ${attempt}`));
    if (kill) process.kill(process.pid, "SIGKILL");
    if (charge === "key") effect(() => chargeOnce(event.id, idempotencyKey));
    if (charge === "step") {
      await step("charge", async () => {
        effect(() => note(`charged ${event.id}`));
        await delay(stepMs);
        return process.pid;
      });
    }
    if (takeMs) await delay(takeMs);
    if (blockMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
    if (attempt <= fail) throw new Error(`asked to fail ${fail} times`);
    note(`finished ${event.id} ${attempt}`);
  };
}
