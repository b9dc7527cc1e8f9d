import { describe, expect, it, vi } from "vitest";
import { type Cipher, createCipher } from "../contract/cipher.ts";
import { encryptedSteps, type StepStore, stepRunner } from "./steps.ts";

/** The store of one job; `locked` says whether its lock is ours. */
function memory(locked = true) {
  const results = new Map<string, string>();
  const store: StepStore = {
    read: async (name) => results.get(name),
    async store(name, result) {
      if (!locked) return undefined;
      if (!results.has(name)) results.set(name, result);
      return results.get(name);
    },
  };
  return { results, store };
}

function runner(store: StepStore, controller = new AbortController()) {
  const lost = vi.fn();
  return { step: stepRunner(store, controller.signal, lost), lost, controller };
}

describe("a step", () => {
  it.each([5, "text", null, undefined, { deep: [1, { a: "é😀\u2028" }] }, [], false])(
    "runs once, and gives every later run its result: %j",
    async (result) => {
      const { store } = memory();
      const fn = vi.fn(async () => result);
      expect(await runner(store).step("charge", fn)).toEqual(result);
      expect(await runner(store).step("charge", fn)).toEqual(result);
      expect(fn).toHaveBeenCalledTimes(1);
    },
  );

  it("gives the first run what later ones get: a Date is its text from the start", async () => {
    const { store } = memory();
    const when = new Date(0);
    expect(await runner(store).step("when", () => when)).toBe("1970-01-01T00:00:00.000Z");
  });

  it("that throws is not stored, and may be tried again in the same run", async () => {
    const { store, results } = memory();
    const { step } = runner(store);
    let tries = 0;
    const fn = () => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
      return tries;
    };
    await expect(step("charge", fn)).rejects.toThrow("not yet");
    expect(results.size).toBe(0);
    expect(await step("charge", fn)).toBe(2);
  });

  it("is one when it is asked for twice at once", async () => {
    const { store } = memory();
    const { step } = runner(store);
    const fn = vi.fn(async () => "done");
    expect(await Promise.all([step("charge", fn), step("charge", fn)])).toEqual(["done", "done"]);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it("doesn't begin after the signal, but still gives what is stored", async () => {
    const { store } = memory();
    await runner(store).step("charge", () => 1);
    const { step, controller } = runner(store);
    controller.abort(new DOMException("The handler must stop: draining", "AbortError"));
    const fn = vi.fn();
    expect(await step("charge", fn)).toBe(1);
    await expect(step("mail", fn)).rejects.toThrow("draining");
    expect(fn).not.toHaveBeenCalled();
  });

  it("can't be stored without the lock: the run is told that it is lost", async () => {
    const { store, results } = memory(false);
    const { step, lost } = runner(store);
    await expect(step("charge", () => 1)).rejects.toMatchObject({ name: "AbortError" });
    expect(lost).toHaveBeenCalledTimes(1);
    expect(results.size).toBe(0);
  });

  it.each(["", "x".repeat(201), 5, undefined])("has a name, not %j", async (name) => {
    const { store } = memory();
    await expect(runner(store).step(name as string, () => 1)).rejects.toThrow(TypeError);
  });

  it("says so when its result can't be stored", async () => {
    const { store } = memory();
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const { step } = runner(store);
    await expect(step("a", () => circular)).rejects.toThrow(/JSON can't carry it/);
    await expect(step("b", () => 10n)).rejects.toThrow(/JSON can't carry it/);
    await expect(step("c", () => "x".repeat(1024 * 1024))).rejects.toThrow(/at most 1048576/);
  });
});

describe("an encrypted step", () => {
  const keyOf = (seed: number) => Uint8Array.from({ length: 32 }, (_, at) => seed + at);
  const cipher = createCipher(keyOf(1), []);
  const run = (store: StepStore, by: Cipher | undefined, jobId = "wh_1") =>
    runner(encryptedSteps(store, jobId, by)).step;

  it("lies there unreadable, and runs once", async () => {
    const { store, results } = memory();
    const fn = vi.fn(() => ({ card: "made-up-card é" }));
    expect(await run(store, cipher)("charge", fn)).toEqual({ card: "made-up-card é" });
    expect(await run(store, cipher)("charge", fn)).toEqual({ card: "made-up-card é" });
    expect(fn).toHaveBeenCalledTimes(1);
    expect(results.get("charge")).toMatch(/^aes-256-gcm:[0-9a-f]{8}\./);
    expect(results.get("charge")).not.toContain("card");
  });

  it("is read where encryption was switched on or off since, or its key rotated", async () => {
    const { store } = memory();
    const fn = vi.fn(() => 5);
    await run(store, undefined)("plain", fn);
    await run(store, cipher)("sealed", fn);
    fn.mockClear();
    expect(await run(store, cipher)("plain", fn)).toBe(5);
    for (const later of [createCipher(undefined, [keyOf(1)]), createCipher(keyOf(2), [keyOf(1)])]) {
      expect(await run(store, later)("sealed", fn)).toBe(5);
    }
    expect(fn).not.toHaveBeenCalled();
  });

  it("never runs again where it can't be read: another key, another job's, another step's", async () => {
    const { store, results } = memory();
    const fn = vi.fn(() => 5);
    await run(store, cipher)("charge", fn);
    results.set("mail", results.get("charge") as string);
    fn.mockClear();
    const unreadable = { code: "unreadable_job" };
    await expect(run(store, undefined)("charge", fn)).rejects.toMatchObject(unreadable);
    await expect(run(store, createCipher(keyOf(2), []))("charge", fn)).rejects.toMatchObject(unreadable);
    await expect(run(store, cipher, "wh_2")("charge", fn)).rejects.toMatchObject(unreadable);
    await expect(run(store, cipher)("mail", fn)).rejects.toMatchObject(unreadable);
    expect(fn).not.toHaveBeenCalled();
  });
});
