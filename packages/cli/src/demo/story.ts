import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "webhook-anvil/config";
import { deadlineIn, formatDuration, showDead } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { providers, signDelivery } from "webhook-anvil/signatures";
import { Failure } from "../failure.ts";
import type { Terminal } from "../output/terminal.ts";
import { type Answer, post } from "../sending/post.ts";
import { storedKeys } from "./demo-queue.ts";
import type { Stage } from "./stage.ts";

const PATIENCE_MS = 10_000;

/**
 * The chain in five steps. What it prints is what happened: each step looks at the answers, at the handler's runs
 * and into Redis, and the demo fails when one of them isn't as it should be.
 */
export async function tellStory(stage: Stage, out: Terminal, signal: AbortSignal): Promise<void> {
  const { runs, shop } = stage;
  const { bold, dim, green, red, yellow } = out.style;
  const step = (number: number, text: string) => {
    signal.throwIfAborted();
    out.line(`\n${bold(`${number}. ${text}`)}`);
  };
  const tell = (what: string, text: string) => {
    signal.throwIfAborted();
    out.line(`   ${what.padEnd(9)} ${text}`);
  };

  step(1, "A sender delivers an event, signed with the secret");
  const order = bytes({ id: "evt_demo_1", type: "order.created", data: { orderId: 1001, amount: 4200 } });
  const first = await deliver(stage, order);
  tell("answer", `${green("202")} ${first.jobId}`);
  expect(first, { status: 202, replayed: false });
  const handled = await runs.next(first.jobId, signal);
  expectRun(handled.error === undefined && handled.event.text === order.toString());
  tell("handler", `${green("done")}, with the ${order.length} bytes that were signed`);

  step(2, "It delivers the same event four more times, as senders do");
  for (let again = 0; again < 4; again++) {
    expect(await deliver(stage, order), { status: 202, replayed: true, jobId: first.jobId });
  }
  tell("answers", `${green("202")} four times, each with that same id and replayed: true`);
  const stored = await storedKeys(stage.connection, stage.place);
  if (stored.jobs !== 1) throw unexpected(`${stored.jobs} jobs are stored for one event`);
  expectRun(runs.count(first.jobId) === 1);
  tell("handler", `has run ${green("once")} for it in all`);

  step(3, "Somebody changes the amount on the way: 4200 becomes 1");
  const forged = Buffer.from(order.toString().replace("4200", "1"));
  const refused = await deliver(stage, forged, order);
  expect(refused, { status: 401 });
  tell("answer", `${red("401")} ${refused.code}`);
  const after = await storedKeys(stage.connection, stage.place);
  if (after.jobs !== stored.jobs || after.deliveries !== stored.deliveries) {
    throw unexpected("a refused delivery was stored");
  }
  tell("stored", "nothing: Redis holds what it held before");

  step(4, "An event comes in while the bank is down, so its handler fails");
  shop.bankIsUp = false;
  const payment = await deliver(
    stage,
    bytes({ id: "evt_demo_2", type: "payment.captured", data: { amount: 4200 } }),
  );
  expect(payment, { status: 202, replayed: false });
  tell("answer", `${green("202")} ${payment.jobId}`);
  for (let attempt = 1; attempt <= stage.schedule.length + 1; attempt++) {
    const run = await runs.next(payment.jobId, signal);
    expectRun(run.attempt === attempt && run.error !== undefined);
    tell(`run ${attempt}`, `${yellow("failed")}: ${run.error}; ${nextRetry(stage, attempt)}`);
  }
  const letter = await deadLetter(stage, payment.jobId, signal);
  const { attempts, lastError } = letter.failureContext;
  tell("buried", `${red("dead letter")} after ${attempts} runs, last error: ${lastError}`);

  step(5, "The bank is back, and a person replays the dead letter");
  shop.bankIsUp = true;
  const { queue, prefix } = stage.place;
  out.line(`   ${dim(`$ npx anvil replay ${payment.jobId}`)}`);
  const replayed = await replayDeadLetter(payment.jobId, {
    connection: stage.connection,
    queue,
    prefix,
    log: silentLog,
  });
  if (!replayed.replayed) throw unexpected(`the replay said ${replayed.reason}`);
  const again = await runs.next(payment.jobId, signal);
  expectRun(again.error === undefined);
  const left = await stage.connection.run(deadlineIn(PATIENCE_MS), (client) =>
    showDead(client, stage.place, payment.jobId),
  );
  if (left) throw unexpected(`${payment.jobId} is a dead letter still`);
  tell("handler", `${green("done")}, under the same id; no dead letter is left`);
}

/** What follows a failed run. */
export function nextRetry({ schedule }: Pick<Stage, "schedule">, attempt: number): string {
  const delayMs = schedule[attempt - 1];
  return delayMs === undefined ? "no retry is left" : `again in ${formatDuration(delayMs)}`;
}

type Delivered = {
  readonly status: number;
  readonly jobId: string;
  readonly replayed: boolean;
  readonly code: string;
};

/** Posts a body as any sender would: over HTTP, with a signature made from the secret. */
async function deliver(stage: Stage, body: Uint8Array, signedBody = body): Promise<Delivered> {
  const hmac = providers.get("hmac");
  if (!hmac) throw unexpected("there is no provider hmac");
  const headers = signDelivery(hmac, signedBody, stage.secret, {
    nowMs: Date.now(),
    headers: { "content-type": "application/json" },
  });
  const answer = await post(`${stage.url}/webhooks`, headers, body);
  return { status: answer.status, ...parsed(answer) };
}

function parsed({ body }: Answer): Omit<Delivered, "status"> {
  const {
    jobId = "",
    replayed = false,
    error,
  } = JSON.parse(body) as Partial<Delivered> & { error?: { code: string } };
  return { jobId, replayed, code: error?.code ?? "" };
}

async function deadLetter(stage: Stage, jobId: string, signal: AbortSignal) {
  const deadline = deadlineIn(PATIENCE_MS);
  while (deadline.remainingMs() > 0) {
    const letter = await stage.connection.run(deadline, (client) => showDead(client, stage.place, jobId));
    if (letter) return letter;
    await delay(20, undefined, { signal });
  }
  throw unexpected(`${jobId} is no dead letter ${PATIENCE_MS / 1000} s after its last run`);
}

function bytes(payload: unknown): Buffer {
  return Buffer.from(JSON.stringify(payload));
}

function expect(delivered: Delivered, wanted: Partial<Delivered>): void {
  for (const [name, value] of Object.entries(wanted)) {
    const found = delivered[name as keyof Delivered];
    if (found !== value) throw unexpected(`an answer had ${name} ${found}, not ${value}`);
  }
}

function expectRun(asItShouldBe: boolean): void {
  if (!asItShouldBe) throw unexpected("the handler didn't run as it should");
}

function unexpected(what: string): Failure {
  return new Failure(`the demo didn't go as it should: ${what}`);
}
