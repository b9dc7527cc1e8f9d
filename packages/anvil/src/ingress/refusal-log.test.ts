import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Log } from "../contract/log.ts";
import { refusalLog } from "./refusal-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function recorded() {
  const lines: [Record<string, unknown>, string][] = [];
  const warn = (fields: Record<string, unknown>, message: string) => void lines.push([fields, message]);
  return { lines, log: { info() {}, warn, error() {} } satisfies Log };
}

const wrong = { source: "shop", provider: "hmac", reason: "wrong_signature" };

it("has the first lines of a flood, and its number once a minute", () => {
  const { lines, log } = recorded();
  const refusals = refusalLog(log, { lines: 3 });
  for (let n = 0; n < 1_000; n++) refusals.refused(wrong, "signature refused");
  expect(lines).toEqual(Array(3).fill([wrong, "signature refused"]));
  vi.advanceTimersByTime(60_000);
  expect(lines.slice(3)).toEqual([
    [
      { source: "shop", reason: "wrong_signature", more: 997, windowMs: 60_000 },
      "signature refused: 997 more, not logged",
    ],
  ]);
  refusals.refused(wrong, "signature refused");
  expect(lines).toHaveLength(5);
});

it("counts each source and each reason by itself, and says nothing of those that were all logged", () => {
  const { lines, log } = recorded();
  const refusals = refusalLog(log, { lines: 2 });
  for (const fields of [wrong, { ...wrong, source: "hub" }, { ...wrong, reason: "missing_signature" }]) {
    for (let n = 0; n < 2; n++) refusals.refused(fields, "signature refused");
  }
  expect(lines).toHaveLength(6);
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(6);
});

it("says what it has counted when it is closed, and leaves no timer", () => {
  const { lines, log } = recorded();
  const refusals = refusalLog(log, { lines: 1 });
  for (let n = 0; n < 5; n++) refusals.refused(wrong, "signature refused");
  refusals.close();
  expect(lines.at(-1)?.[0]).toMatchObject({ more: 4 });
  expect(vi.getTimerCount()).toBe(0);
});
