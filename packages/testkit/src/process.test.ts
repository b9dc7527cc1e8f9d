import { describe, expect, it } from "vitest";
import { spawnNode } from "./process.ts";
import { waitUntil } from "./wait-until.ts";
import type { TestProcess } from "./watched-process.ts";

const entry = "packages/testkit/src/fixtures/talker.ts";

describe("spawnNode", () => {
  let left: TestProcess;

  it("runs a TypeScript entry from the sources on this Node, and hears its end", async () => {
    const talker = spawnNode({ entry, args: ["hello"], env: { TALKER: "there" } });
    const [line] = await talker.waitForLine(/^ready .*$/);
    expect(line).toBe(`ready node=${process.version} arg=hello env=there source=function`);
    await talker.waitForLine(/^red line$/);
    expect(await talker.kill()).toEqual({ code: 3, signal: null });
    expect(talker.stdout()).toMatch(/draining\n$/);
  });

  it("fails to wait for a line that the ended process never printed, with what it did print", async () => {
    const talker = spawnNode({ entry });
    await talker.waitForLine(/^ready/);
    const waiting = expect(talker.waitForLine(/never/)).rejects.toThrow(
      /It ended \(SIGKILL\) before .*talker\.ts printed a line like \/never\/.*ready/s,
    );
    await talker.kill("SIGKILL");
    await waiting;
  });

  it("leaves a process running when the test ends…", async () => {
    left = spawnNode({ entry });
    await left.waitForLine(/^ready/);
  });

  it("…and it has been killed for it", async () => {
    expect(await left.exited).toEqual({ code: null, signal: "SIGKILL" });
    await waitUntil(() => !lives(left.pid), { what: "the process is gone" });
  });
});

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
