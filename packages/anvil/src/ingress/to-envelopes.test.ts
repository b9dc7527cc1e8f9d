import { expect, it } from "vitest";
import { silentLog } from "../contract/log.ts";
import { headerLookup } from "../signatures/headers.ts";
import { type ProviderName, resolveConfig } from "../signatures/index.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { toEnvelopes } from "./to-envelopes.ts";

/** The keys of the events that are stored for a delivery of a provider, verified by an equal signature each time. */
function keysOf(provider: ProviderName, body: object, split = false): string[] {
  const settings = { provider, secret: "made-up-secret", ...(split ? { split } : {}) };
  const source = resolveConfig({ sources: { it: settings } }).sources.get("it") as ResolvedSource;
  const received = {
    method: "POST",
    url: "",
    header: headerLookup({ "content-type": "application/json" }),
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
  const verified = { ok: true, signature: Uint8Array.of(1) } as const;
  const envelopes = toEnvelopes(source, verified, received, 1_760_000_000_000, undefined, silentLog);
  return envelopes.map(({ key }) => key);
}

const signal = { subscriptionId: "sub", resource: "me/drive/root", changeType: "updated" };

it.each<[ProviderName, string, object, boolean, number]>([
  ["dropbox", "signals", { list_folder: { accounts: ["a"] } }, false, 2],
  ["microsoft-graph", "signals", { value: [signal] }, false, 2],
  ["microsoft-graph", "signals of a list that is split", { value: [signal] }, true, 2],
  ["microsoft-graph", "ids in a list that is split", { value: [{ ...signal, id: "n1" }] }, true, 1],
  ["asana", "changes", { events: [{ action: "changed", created_at: "2025-10-09T08:53:20.000Z" }] }, false, 1],
  ["hmac", "bodies", { type: "order.paid" }, false, 1],
])("%s: two equal deliveries with %s", (provider, _, body, split, events) => {
  const keys = [...keysOf(provider, body, split), ...keysOf(provider, body, split)];
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(events);
});
