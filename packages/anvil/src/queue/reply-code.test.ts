import { expect, it } from "vitest";
import { replyCode } from "./reply-code.ts";

for (const [message, code] of [
  ["READONLY You can't write against a read only replica.", "READONLY"],
  [
    // Redis 6.2, as reported in redis/ioredis pull request 1089 and redis/go-redis issue 2229.
    "ERR Error running script (call to f_0123456789abcdef): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ",
    "READONLY",
  ],
  [
    "ERR Error running script (call to f_0123): @user_script:7: @user_script: 7: -OOM command not allowed when used memory > 'maxmemory'. ",
    "OOM",
  ],
  ["LOADING Redis is loading the dataset in memory", "LOADING"],
  ["ERR unknown command 'made-up'", "ERR"],
  ["something without a code", "ERR"],
] as const) {
  it(`reads ${code} from "${message.slice(0, 40)}…"`, () => expect(replyCode(new Error(message))).toBe(code));
}
