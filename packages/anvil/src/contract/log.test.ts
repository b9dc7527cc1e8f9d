import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { consoleLog, silentLog } from "./log.ts";

describe("consoleLog", () => {
  const written: string[] = [];
  let spies: MockInstance[] = [];
  beforeEach(() => {
    written.length = 0;
    spies = (["log", "warn", "error"] as const).map((method) =>
      vi.spyOn(console, method).mockImplementation((text: string) => {
        written.push(`${method} ${text}`);
      }),
    );
  });
  afterEach(() => {
    for (const spy of spies) spy.mockRestore();
  });

  it("writes one JSON line for each entry, each to the console's method of its level", () => {
    consoleLog.info({ jobId: "wh_1" }, "stored");
    consoleLog.warn({}, "slow");
    consoleLog.error({ reason: "refused" }, "not stored");
    expect(written).toEqual([
      'log {"level":"info","message":"stored","jobId":"wh_1"}',
      'warn {"level":"warn","message":"slow"}',
      'error {"level":"error","message":"not stored","reason":"refused"}',
    ]);
  });

  it("never lets a line break of an event split the line: LF, CR, U+2028, U+2029", () => {
    const type = "a\nb\rc\u2028d\u2029e\ud800f";
    consoleLog.info({ type }, `handled ${type}`);
    const [line = ""] = written;
    expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
    const entry = JSON.parse(line.slice("log ".length));
    expect(entry).toEqual({ level: "info", message: `handled ${type}`, type });
  });
});

describe("silentLog", () => {
  it("says nothing", () => {
    const spy = vi.spyOn(console, "log");
    silentLog.info({}, "stored");
    silentLog.warn({}, "slow");
    silentLog.error({}, "not stored");
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });
});
