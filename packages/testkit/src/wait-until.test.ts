import { describe, expect, it } from "vitest";
import { waitUntil } from "./wait-until.ts";

describe("waitUntil", () => {
  it("gives the first value that holds", async () => {
    let looks = 0;
    expect(await waitUntil(() => (++looks >= 3 ? `look ${looks}` : undefined), { what: "three looks" })).toBe(
      "look 3",
    );
  });

  it("says what was awaited and the last value", async () => {
    const never = waitUntil(() => 0, { what: "the queue has a job", timeoutMs: 50, intervalMs: 10 });
    await expect(never).rejects.toThrow(
      "Waited 50 ms, but this did not happen: the queue has a job (last value: 0)",
    );
  });

  it("takes an error for not yet, and shows the last one", async () => {
    const never = waitUntil(() => Promise.reject(new Error("refused")), {
      what: "it connects",
      timeoutMs: 30,
    });
    await expect(never).rejects.toThrow("it connects (last error: refused)");
  });
});
