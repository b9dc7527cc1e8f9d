import { createHash } from "node:crypto";
import { AnvilError } from "../contract/errors.ts";

/** What a delivery has that no other event may come with. */
export type Once = {
  readonly key: string;
  /** Which event it belongs to; the same for every event of a list. */
  readonly holder: string;
  /** How long that is remembered, in milliseconds. */
  readonly forMs: number;
};

/**
 * @param token hashed, since it is part of what a provider signs
 * @param events the keys of all that come with it
 */
export function onceWith(token: string, source: string, events: readonly string[], forMs: number): Once {
  return { key: digest([source, token]), holder: digest(events), forMs };
}

function digest(texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
}

/**
 * In front of the add script, and with it one step: two events under one token can't both get in, and one that could
 * not be stored leaves nothing that its redelivery would meet. Its key and arguments are the last ones.
 */
export const onceLua: string = `
do
  local holder = redis.call('GET', KEYS[#KEYS])
  if holder and holder ~= ARGV[#ARGV - 1] then return 'refused:token_reused' end
  if not holder then redis.call('SET', KEYS[#KEYS], ARGV[#ARGV - 1], 'PX', ARGV[#ARGV]) end
end
`;

/** The script's answer as an error, when it is a refusal. */
export function refusedByOnce(reply: unknown): AnvilError | undefined {
  if (reply !== "refused:token_reused") return undefined;
  return new AnvilError("token_reused", "Another event came with what its provider signs once");
}
