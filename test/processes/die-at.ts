import { writeSync } from "node:fs";
import { Redis } from "ioredis";
import { BOUNDARIES, boundaryOf, hasEffect } from "./protocol-steps.ts";

/**
 * Kills the process that imports it, or that was started with `--import` of it, at one step of the protocol, and
 * does nothing where `DIE_AT` isn't set.
 *
 * `DIE_AT=before|after:<boundary>[:<n>]`, several with commas between them: whichever comes first.
 * `before`: the bytes of the n-th such command are about to be written. `after`: Redis has applied the n-th one and
 * its reply is here, but nobody has been told. Replies that say "nothing to do" (a sweep that found nothing, a job
 * that is not failed) don't count. n is 1 by default. A line on stderr says where it died: `died after bury`.
 *
 * Steps: `add`, `complete`, `fail` (for good), `retry` (delayed, or put back by a sweep), `bury`, `unbury`, `sweep`,
 * `step`; and `handler-effect`, which a handler marks with `effect()`. Scripts over TCP only, not over REST.
 */
type Death = { readonly when: string; readonly boundary: string; left: number };

type Command = {
  readonly name: string;
  readonly args: readonly unknown[];
  resolve(reply: unknown): void;
  toWritable(socket: object): unknown;
};

const deaths: Death[] = [];
let watching = false;
for (const death of (process.env.DIE_AT ?? "").split(",").filter(Boolean)) dieAt(death);

/** From now on too, beside what `DIE_AT` says. For one that is told later, call it once before anything connects. */
export function dieAt(death?: string): void {
  if (death !== undefined) deaths.push(parse(death));
  if (!watching) watchCommands();
  watching = true;
}

/** What a handler does outside Redis, as the step `handler-effect`. */
export function effect(run: () => void): void {
  reach("before", "handler-effect");
  run();
  reach("after", "handler-effect");
}

function parse(text: string): Death {
  const [when = "", boundary = "", count = "1"] = text.split(":");
  const known = (BOUNDARIES as readonly string[]).includes(boundary);
  if (!/^(before|after)$/.test(when) || !known || !(Number(count) >= 1)) {
    throw new Error(`DIE_AT: before|after:<${BOUNDARIES.join("|")}>[:n], not "${text}"`);
  }
  return { when, boundary, left: Number(count) };
}

/** The process is at a step: dies here if it was told to. */
export function reach(when: "before" | "after", boundary: string): void {
  const death = deaths.find((each) => each.when === when && each.boundary === boundary);
  if (!death) return;
  death.left -= 1;
  if (death.left > 0) return;
  writeSync(2, `died ${when} ${boundary}\n`);
  process.kill(process.pid, "SIGKILL");
  // The signal takes a moment, in which nothing more may happen.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function watchCommands(): void {
  const { sendCommand } = Redis.prototype;
  // A command that waits for its connection is sent twice.
  const watched = new WeakSet<object>();
  Redis.prototype.sendCommand = function (this: Redis, ...sent: Parameters<typeof sendCommand>) {
    const command = sent[0] as unknown as Command;
    const boundary = watched.has(command) ? undefined : boundaryOf(command.name, command.args);
    if (boundary) {
      watched.add(command);
      const { resolve, toWritable } = command;
      command.toWritable = (socket) => {
        reach("before", boundary);
        return toWritable.call(command, socket);
      };
      command.resolve = (reply) => {
        if (hasEffect(boundary, reply)) reach("after", boundary);
        resolve.call(command, reply);
      };
    }
    return sendCommand.apply(this, sent);
  };
}
