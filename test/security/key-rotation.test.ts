import { createHmac, randomBytes } from "node:crypto";
import { waitUntil } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { type EncryptionConfig, env, silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { resolveEncryption } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { type Chain, SECRET, startChain } from "../chain/chain.ts";

const newKey = () => randomBytes(32).toString("base64");
const keyId = (key: string) => resolveEncryption({ key }, {}, [])?.keyId as string;

/** A chain whose one worker stops before the next one starts, each with keys of its own; a retry ends nothing here. */
function stages() {
  const chain = startChain({ retry: { schedule: [] } });
  const { url: redis, prefix } = chain;
  const seen: string[] = [];
  let failing = false;
  return {
    chain,
    seen,
    fail(yes: boolean) {
      failing = yes;
    },
    /** Through an ingress with this setting. */
    async deliver(body: string, encryption?: EncryptionConfig): Promise<string> {
      const app = createServer({
        ...{ secret: SECRET, retry: { schedule: [] }, redis, prefix, log: silentLog },
        ...(encryption ? { encryption } : {}),
      });
      try {
        const signature = createHmac("sha256", SECRET).update(body).digest("hex");
        const headers = { "x-signature": signature };
        const answer = await app.request("/webhooks", { method: "POST", body, headers });
        expect(answer.status).toBe(202);
        return ((await answer.json()) as { jobId: string }).jobId;
      } finally {
        await app.close();
      }
    },
    /** Runs a worker with this setting until every job is where it ends. */
    async work(encryption: EncryptionConfig | undefined, jobIds: string[], end: "completed" | "dead") {
      const worker = await chain.work(
        (event) => {
          seen.push(event.text);
          if (failing) throw new Error("the bank is down");
        },
        { ...(encryption ? { encryption } : {}), sweepMs: 100 },
      );
      for (const jobId of jobIds) {
        await waitUntil(async () => (await chain.state(jobId)) === end, { what: `${jobId} is ${end}` });
      }
      await worker.close();
    },
    replay: (jobId: string) => replayDeadLetter(jobId, { redis, prefix, log: silentLog }),
  };
}

const stored = async (chain: Chain, jobId: string) =>
  JSON.parse((await chain.redis.hget(chain.key(jobId), "data")) as string) as Record<string, string>;

test("a new key: events of both are handled, and dead letters of the old one replayed", async () => {
  const [first, second] = [newKey(), newKey()];
  const rotated: EncryptionConfig = { key: second, previousKeys: [first] };
  const { chain, seen, fail, deliver, work, replay } = stages();
  fail(true);
  const buried = await deliver("buried under the old key", { key: first });
  await work({ key: first }, [buried], "dead");

  fail(false);
  const waiting = await deliver("waited under the old key", { key: first });
  const fresh = await deliver("came under the new key", rotated);
  expect((await stored(chain, waiting)).body).toContain(`${keyId(first)}.`);
  expect((await stored(chain, fresh)).body).toContain(`${keyId(second)}.`);
  expect(await replay(buried)).toEqual({ replayed: true, jobId: buried });
  await work(rotated, [buried, waiting, fresh], "completed");
  expect(seen.slice(1).sort()).toEqual([
    "buried under the old key",
    "came under the new key",
    "waited under the old key",
  ]);
});

test("switched on, events of before are read; switched off, those of between", async () => {
  const key = newKey();
  const off: EncryptionConfig = { previousKeys: [key] };
  const { chain, seen, deliver, work } = stages();
  const before = await deliver("before");
  const between = await deliver("between", { key });
  await work({ key }, [before], "completed");
  const after = await deliver("after", off);
  expect((await stored(chain, after)).encoding).toBe("utf8");
  const late = await deliver("late", { key });
  await work(off, [between, after, late], "completed");
  expect(seen.sort()).toEqual(["after", "before", "between", "late"]);
});

test("a worker without the key: a dead letter that names it, and is handled once the key is there", async () => {
  const [key, another] = [newKey(), newKey()];
  const { chain, seen, deliver, work, replay } = stages();
  const without = await deliver("made-up-body one", { key });
  await work(undefined, [without], "dead");
  const wrong = await deliver("made-up-body two", { key });
  await work({ key: another }, [wrong], "dead");
  expect(seen).toEqual([]);
  for (const jobId of [without, wrong]) {
    const letter = await chain.letter(jobId);
    expect(letter?.failureContext).toMatchObject({ reason: "unreadable", attempts: 1 });
    expect(letter?.failureContext.lastError).toMatch(
      new RegExp(
        `^unreadable job: it is encrypted with key ${keyId(key)}, which .*encryption\\.previousKeys`,
      ),
    );
    expect(JSON.stringify(letter)).not.toContain("made-up-body");
    expect(await replay(jobId)).toEqual({ replayed: true, jobId });
  }
  await work({ key: another, previousKeys: [key] }, [without, wrong], "completed");
  expect(seen.sort()).toEqual(["made-up-body one", "made-up-body two"]);
});

test("a body that was changed in Redis, or put into another event, reaches no handler", async () => {
  const key = newKey();
  const { chain, seen, deliver, work } = stages();
  const [changed, from, to] = [
    await deliver("pay 1", { key }),
    await deliver("pay 2", { key }),
    await deliver("pay 3", { key }),
  ];
  const put = async (jobId: string, body: string) => {
    const data = { ...(await stored(chain, jobId)), body };
    await chain.redis.hset(chain.key(jobId), "data", JSON.stringify(data));
  };
  const { body = "" } = await stored(chain, changed);
  const at = body.lastIndexOf(".") + 3;
  await put(changed, body.slice(0, at) + (body[at] === "A" ? "B" : "A") + body.slice(at + 1));
  await put(to, (await stored(chain, from)).body as string);
  await work({ key }, [changed, to], "dead");
  await waitUntil(async () => (await chain.state(from)) === "completed", { what: "the sound one is done" });
  expect(seen).toEqual(["pay 2"]);
  for (const jobId of [changed, to]) {
    const { reason, lastError } = (await chain.letter(jobId))?.failureContext ?? {};
    expect([reason, lastError]).toEqual(["unreadable", expect.stringMatching(/changed, moved or damaged/)]);
  }
});

test("a variable that isn't set stops ingress and worker, by its name", async () => {
  const chain = startChain();
  const encryption = { key: env("ANVIL_ENCRYPTION_KEY") };
  const message = /ANVIL_ENCRYPTION_KEY is not set \(a key to encrypt events with\)/;
  expect(() => createServer({ secret: SECRET, encryption, env: {} })).toThrow(message);
  await expect(chain.work(() => {}, { encryption })).rejects.toThrow(message);
  const key = newKey();
  const app = createServer({ secret: SECRET, encryption, env: { ANVIL_ENCRYPTION_KEY: key } });
  onTestFinished(() => app.close());
});
