import { describe, expect, it } from "vitest";
import { DEFAULT_PREFIX, DEFAULT_QUEUE, deadQueueName, queueKey, queueNameProblem } from "./queue-names.ts";

describe("queueNameProblem", () => {
  it("has nothing against the defaults and against one shard of several", () => {
    expect(queueNameProblem(DEFAULT_PREFIX, DEFAULT_QUEUE)).toBeUndefined();
    expect(queueNameProblem("{anvil-0}", "my_queue.v2-eu")).toBeUndefined();
  });

  it.each(["", "a:b", "a b", "a{b}", "a\n", "é", "x".repeat(101)])("refuses the queue %j", (queue) => {
    expect(queueNameProblem(DEFAULT_PREFIX, queue)).toContain("queue ");
  });

  it.each([
    "",
    "anvil",
    "{}",
    "{a",
    "a}",
    "{a}b",
    "a{b}",
    "{{a}}",
    "{a:b}",
    "{a b}",
    "{a}\n",
    `{${"x".repeat(101)}}`,
  ])("refuses the prefix %j, which would part the two queues in a cluster", (prefix) => {
    expect(queueNameProblem(prefix, DEFAULT_QUEUE)).toContain("prefix ");
  });
});

describe("queue keys", () => {
  it("are BullMQ's", () => {
    expect(queueKey("{anvil}", "webhooks", "wait")).toBe("{anvil}:webhooks:wait");
    expect(queueKey("{anvil}", deadQueueName("webhooks"), "failed")).toBe("{anvil}:webhooks.dead:failed");
  });
});
