import { sharedRedisUrl, uniquePrefix } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { type Provider, providers, signRequest } from "webhook-anvil/signatures";
import { deployedHosts } from "./hosts.ts";

const SECRET = "made-up-secret-of-the-tests";
const json = { "content-type": "application/json" };

/**
 * Providers that sign the URL sign the public one, which a proxy in between has changed by the time that a delivery
 * is here: another host, another scheme, another path. Only the query is still theirs.
 */
describe.each(deployedHosts)("%s", (_name, start) => {
  async function receiver(provider: string, url: string) {
    const host = await start({
      sources: { hook: { provider, secret: SECRET, url } as never },
      redis: sharedRedisUrl(),
      prefix: uniquePrefix(),
      log: silentLog,
    });
    onTestFinished(() => host.close());
    /** Signed over one URL, and arriving here with a query. */
    return async (signedUrl: string, query = "", text = '{"id":"1"}') => {
      const row = providers.get(provider) as Provider;
      const unsigned = { url: signedUrl, headers: json, body: new TextEncoder().encode(text) };
      const { headers, body, url: finalUrl } = signRequest(row, unsigned, SECRET, { nowMs: Date.now() });
      const added = provider === "twilio" ? new URL(finalUrl).search : query;
      return (await host.send({ path: `/webhooks/hook${added}`, headers, body })).status;
    };
  }

  it.each(["square", "trello", "hubspot", "twilio"])(
    "%s: the configured URL counts, not the proxy's",
    async (name) => {
      const deliver = await receiver(name, "https://hooks.example/in/hook");
      expect(await deliver("https://hooks.example/in/hook")).toBe(202);
      expect(await deliver("http://hooks.example/in/hook")).toBe(401);
      expect(await deliver("https://hooks.example/webhooks/hook")).toBe(401);
    },
  );

  it("a query of the request's own is signed with it", async () => {
    const deliver = await receiver("hubspot", "https://hooks.example/in");
    expect(await deliver("https://hooks.example/in?portal=1", "?portal=1")).toBe(202);
    expect(await deliver("https://hooks.example/in?portal=1", "?portal=2")).toBe(401);
  });

  it("a query of the configured URL may be added to, as Twilio adds the hash of a JSON body", async () => {
    const deliver = await receiver("twilio", "https://hooks.example/in?foo=1");
    expect(await deliver("https://hooks.example/in?foo=1")).toBe(202);
    expect(await deliver("https://hooks.example/in?foo=2")).toBe(202);
    expect(await deliver("https://hooks.example/out?foo=1")).toBe(401);
  });

  it("a configured query counts where the request comes without one", async () => {
    const deliver = await receiver("square", "https://hooks.example/in?x=1");
    expect(await deliver("https://hooks.example/in?x=1")).toBe(202);
  });
});
