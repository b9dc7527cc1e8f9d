import { afterEach, beforeEach, expect, it } from "vitest";
import { type PaymentApi, startPaymentApi } from "./payment-api.ts";

let api: PaymentApi;
beforeEach(async () => {
  api = await startPaymentApi();
});
afterEach(() => api.stop());

const call = async (path: string, about: object) =>
  (await fetch(`${api.url}${path}`, { method: "POST", body: JSON.stringify(about) })).status;
const charge = (about: object) => call("/charges", { order: "one", run: "r1", key: "k1", ...about });

it("charges once for a key, however often it comes, and twice for two keys", async () => {
  for (let n = 0; n < 3; n++) expect(await charge({})).toBe(200);
  expect(api.charges().get("one")).toBe(1);
  expect(await charge({ key: "k2" })).toBe(200);
  expect(api.charges().get("one")).toBe(2);
});

it("refuses as often as it is told, declines, and charges before an answer that is lost", async () => {
  expect([
    await charge({ refusals: 2 }),
    await charge({ refusals: 2 }),
    await charge({ refusals: 2 }),
  ]).toEqual([503, 503, 200]);
  expect(await charge({ order: "two", declined: true })).toBe(402);
  expect(api.charges().get("two")).toBe(0);
  await expect(charge({ order: "three", answerLost: true })).rejects.toThrow();
  expect(api.charges().get("three")).toBe(1);
  expect(await charge({ order: "three", answerLost: true })).toBe(200);
  expect(api.charges().get("three")).toBe(1);
});

it("notices a step that runs again in a run that began after it was stored, and no other", async () => {
  const run = (name: string) => call("/run-began", { order: "one", run: name });
  await run("r1");
  await charge({});
  // Began before the result was stored: nothing could have told it.
  await run("r2");
  await call("/step-stored", { order: "one", run: "r1", step: "charge" });
  await charge({ run: "r2" });
  expect(api.repeatedSteps()).toEqual([]);
  await run("r3");
  await charge({ run: "r3" });
  expect(api.repeatedSteps()).toEqual([expect.stringContaining('one: "charge"')]);
});
