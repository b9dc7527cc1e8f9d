import { startRedisReplicas, startSentinels, type TestSentinel, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { look, nothingWrong, startTrouble } from "./stream.ts";

describe("sentinels", () => {
  it("an idle ingress leaves a primary that hung when another is named, so that nothing is written to the stale one", async () => {
    const group = await startRedisReplicas();
    const sentinels = await startSentinels(group);
    const trouble = startTrouble(sentinels.url);
    await trouble.accept("before");
    const old = group.primary;
    await group.caughtUp();
    const next = await sentinels.failover("pause");
    // It hears of it from the sentinels, some milliseconds after they do.
    const ledger = look(next.url);
    await waitUntil(async () => String(await ledger.client("LIST")).includes("name=anvil-ingress"), {
      what: "the ingress has gone to the new primary",
    });
    await old.resume();
    await trouble.accept("after");
    const { jobId } = await trouble.deliver("after");
    expect(await ledger.exists(`${trouble.prefix}:webhooks:${jobId}`)).toBe(1);
    expect(await trouble.balance(ledger)).toMatchObject({ accepted: 2, waiting: 2, ...nothingWrong });
  });

  it("answers in time while all sentinels are silent or one is, and with their own user and password", async () => {
    const group = await startRedisReplicas();
    const sentinels = await startSentinels(group);
    const [first, second, third] = sentinels.sentinels as [TestSentinel, TestSentinel, TestSentinel];
    for (const { pause } of sentinels.sentinels) pause();
    const trouble = startTrouble(sentinels.url);
    expect((await trouble.deliver("refused")).status).toBe(503);
    third.resume();
    await trouble.accept("accepted");

    // The first two are still silent, also for those who come new.
    const another = startTrouble(sentinels.url);
    await another.accept("accepted");
    first.resume();
    second.resume();

    const limited =
      "ACL SETUSER watcher on >made-up-password +sentinel|get-master-addr-by-name +sentinel|sentinels";
    for (const { port } of sentinels.sentinels) {
      await look(`redis://127.0.0.1:${port}`).call("ACL", limited.split(" ").slice(1));
      await look(`redis://127.0.0.1:${port}`).call("ACL", ["SETUSER", "default", "resetpass", ">another"]);
    }
    expect((await startTrouble(sentinels.url).deliver("refused")).status).toBe(503);
    const own = "?sentinelUsername=watcher&sentinelPassword=made-up-password";
    await startTrouble(`${sentinels.url}${own}`).accept("accepted");
  });
});
