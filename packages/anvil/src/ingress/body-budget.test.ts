import { createHmac } from "node:crypto";
import { sharedRedisUrl, uniquePrefix } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { silentLog } from "../contract/log.ts";
import { bodyBudget, UNCOUNTED_BYTES } from "./body-budget.ts";
import { createServer } from "./create-server.ts";

describe("the budget of bodies", () => {
  it("counts what is above the uncounted part, over all shares, and refuses what doesn't fit", () => {
    const budget = bodyBudget(1_000);
    const [one, two] = [budget.share(), budget.share()];
    expect(one.hold(UNCOUNTED_BYTES)).toBe(true);
    expect(budget.heldBytes()).toBe(0);
    expect(one.hold(UNCOUNTED_BYTES + 600)).toBe(true);
    expect(two.hold(UNCOUNTED_BYTES + 401)).toBe(false);
    expect(budget.heldBytes()).toBe(600);
    expect(two.hold(UNCOUNTED_BYTES + 400)).toBe(true);
    // What passes anyway, whatever the others hold.
    expect(budget.share().hold(UNCOUNTED_BYTES)).toBe(true);
    one.release();
    one.release();
    expect(budget.heldBytes()).toBe(400);
    two.release();
    expect(budget.heldBytes()).toBe(0);
  });
});

const SECRET = "made-up-secret-of-the-tests";
const LIMIT = 1024 * 1024;

/** All of the budget is one body of the limit: whatever is not given back makes the next one fail. */
function ingress(bodyTimeoutMs = 5_000) {
  const app = createServer({
    sources: { default: { provider: "hmac", secret: SECRET, bodyLimit: LIMIT } },
    ...{ bodyBudget: LIMIT, bodyTimeoutMs, redis: sharedRedisUrl(), prefix: uniquePrefix(), log: silentLog },
  });
  onTestFinished(() => app.close());
  const send = (body: Uint8Array | ReadableStream, signature: string) =>
    app.request("/webhooks", {
      ...{ method: "POST", body: body as never, duplex: "half" },
      headers: { "x-signature": signature },
    });
  let n = 0;
  return {
    send,
    async takesAWholeOne() {
      const body = new Uint8Array(LIMIT).fill(n++);
      return (await send(body, createHmac("sha256", SECRET).update(body).digest("hex"))).status === 202;
    },
  };
}

/** Some pieces of 64 KiB, and then what becomes of the stream. */
function stream(pieces: number, then: (controller: ReadableStreamDefaultController) => void): ReadableStream {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent++ < pieces) controller.enqueue(new Uint8Array(64 * 1024));
      else then(controller);
    },
  });
}

const FALSE = "0".repeat(64);

describe("an ingress gives back what a body held", () => {
  it.each<[string, (controller: ReadableStreamDefaultController) => void, number, number]>([
    ["that was refused for its signature", (controller) => controller.close(), 12, 401],
    ["that grew over the limit", (controller) => controller.close(), 40, 413],
    ["whose sender went away", (controller) => controller.error(new Error("made-up")), 12, 400],
    ["that never ended", () => {}, 12, 408],
  ])("%s", async (_, then, pieces, status) => {
    const { send, takesAWholeOne } = ingress(300);
    expect(await takesAWholeOne()).toBe(true);
    expect((await send(stream(pieces, then), FALSE)).status).toBe(status);
    expect(await takesAWholeOne()).toBe(true);
  });

  it("and answers 503 with Retry-After to what it has no room for, while small ones pass", async () => {
    const { send, takesAWholeOne } = ingress();
    let end: () => void = () => {};
    let held: Promise<Response> | undefined;
    await new Promise<void>((read) => {
      const waits = stream(12, (controller) => {
        end = () => controller.close();
        read();
        return new Promise(() => {});
      });
      held = Promise.resolve(send(waits, FALSE));
    });
    const answer = await send(
      stream(12, (controller) => controller.close()),
      FALSE,
    );
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(await answer.json()).toMatchObject({ error: { code: "overloaded" } });
    const small = new Uint8Array(UNCOUNTED_BYTES);
    const signature = createHmac("sha256", SECRET).update(small).digest("hex");
    expect((await send(small, signature)).status).toBe(202);
    end();
    expect((await held)?.status).toBe(401);
    expect(await takesAWholeOne()).toBe(true);
  });
});

it("can't be smaller than a body that may come", () => {
  for (const value of [LIMIT - 1, 0, NaN, 1.5]) {
    expect(() => createServer({ secret: SECRET, bodyBudget: value })).toThrow(ConfigError);
  }
});

it("refuses a body of too many tiny pieces, and takes the same bytes in larger ones", async () => {
  const { send } = ingress();
  const cut = (bytes: number, size: number) => {
    let left = bytes;
    return new ReadableStream({
      pull(controller) {
        if (left <= 0) return controller.close();
        controller.enqueue(new Uint8Array(Math.min(size, left)).fill(1));
        left -= size;
      },
    });
  };
  const signature = createHmac("sha256", SECRET).update(new Uint8Array(200_000).fill(1)).digest("hex");
  const refused = await send(cut(200_000, 1), signature);
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    400,
    "bad_request",
  ]);
  expect((await send(cut(200_000, 100), signature)).status).toBe(202);
});
