import type { Redis } from "@upstash/redis";
import {
  firstOfTheirScripts,
  type Script,
  type ScriptArgument,
  type ScriptRunner,
  script,
} from "./run-script.ts";

/**
 * Scripts over REST, where commands travel as JSON and binary arguments don't survive (measured with
 * @upstash/redis 1.39). Arguments that are bytes go as hex, and a line in front of the script turns them back,
 * so BullMQ's own script runs as it is, in one request.
 */
export function restScripts(redis: Redis): ScriptRunner {
  return {
    evalsha: (original, keys, args) => {
      const { sha } = withBytes(original, args);
      return redis.evalsha(sha, [...keys], args.map(asText));
    },
    eval: (original, keys, args) => {
      const { lua } = withBytes(original, args);
      return redis.eval(lua, [...keys], args.map(asText));
    },
    async together(calls) {
      const transaction = redis.multi();
      const prepared = calls.map((call) => ({ ...call, script: withBytes(call.script, call.args) }));
      const first = firstOfTheirScripts(prepared);
      for (const [index, { script: each, keys, args }] of prepared.entries()) {
        if (first[index]) transaction.eval(each.lua, [...keys], args.map(asText));
        else transaction.evalsha(each.sha, [...keys], args.map(asText));
      }
      return transaction.exec();
    },
  };
}

const prepared = new Map<string, Script>();

function withBytes(original: Script, args: readonly ScriptArgument[]): Script {
  const places = args.flatMap((arg, index) => (typeof arg === "object" ? [index + 1] : []));
  if (places.length === 0) return original;
  const name = `${original.sha}:${places.join()}`;
  const known = prepared.get(name);
  if (known) return known;
  const decoding = script(
    `for _, i in ipairs({${places.join()}}) do ARGV[i] = string.gsub(ARGV[i], '..', ` +
      `function(hex) return string.char(tonumber(hex, 16)) end) end\n${original.lua}`,
  );
  prepared.set(name, decoding);
  return decoding;
}

function asText(arg: ScriptArgument): string {
  return typeof arg === "object" ? arg.toString("hex") : String(arg);
}
