import { type Cipher, type SealContext, sealedKeyId, withoutKey } from "../contract/cipher.ts";

/** Where a run's step results are kept. */
export type StepStore = {
  read(name: string): Promise<string | undefined>;
  /** @returns what is stored now; undefined when the lock on the job is lost */
  store(name: string, result: string): Promise<string | undefined>;
};

/**
 * Runs `fn` once for the event, however often its handler runs: its result is stored with the job, and a later run
 * gets it instead. For work that must not be done again when a later part of the handler fails.
 *
 * A crash between the end of `fn` and the storing of its result runs it again; pass `idempotencyKey` on where even
 * that must not be.
 * @param name tells steps of one handler apart; the same in every run, at most 200 characters
 * @param fn returns what JSON can carry; `undefined` too
 * @throws what `fn` throws, and then nothing is stored; an AbortError when the lock on the job is lost by then
 */
export type Step = <T>(name: string, fn: () => T | Promise<T>) => Promise<T>;

const MAX_NAME = 200;
/** A job's hash holds them all; what is larger belongs into a store of its own, with its key as the result. */
const MAX_RESULT = 1024 * 1024;

/** @param lost told when a result could not be stored because the lock is lost */
export function stepRunner(store: StepStore, signal: AbortSignal, lost: () => void): Step {
  const underWay = new Map<string, Promise<unknown>>();

  async function run<T>(name: string, fn: () => T | Promise<T>): Promise<T> {
    const stored = await store.read(name);
    if (stored !== undefined) return decoded(stored) as T;
    // Asked after the read: what was lost while waiting must not begin.
    signal.throwIfAborted();
    const kept = await store.store(name, encoded(name, await fn()));
    if (kept === undefined) {
      lost();
      signal.throwIfAborted();
      throw new DOMException("The handler must stop: lock_lost", "AbortError");
    }
    return decoded(kept) as T;
  }

  return <T>(name: string, fn: () => T | Promise<T>): Promise<T> => {
    if (typeof name !== "string" || name === "" || name.length > MAX_NAME) {
      return Promise.reject(new TypeError(`A step's name is a text of 1 to ${MAX_NAME} characters`));
    }
    // Two at once under one name are one step.
    const same = underWay.get(name) as Promise<T> | undefined;
    if (same) return same;
    const running = run(name, fn);
    underWay.set(name, running);
    // A step that failed may be tried again in the same run.
    running.catch(() => underWay.delete(name));
    return running;
  };
}

/** In front of an encrypted result; a plain one is JSON, which begins with a brace. */
const SEALED = "aes-256-gcm:";

/**
 * Results of steps as they lie in Redis: encrypted where bodies are, since they are made of them. What was stored
 * before encryption was switched on stays readable, and so does what was encrypted for as long as its key is here.
 */
export function encryptedSteps(store: StepStore, jobId: string, cipher: Cipher | undefined): StepStore {
  // Bound to its place: another job's result, or another step's, can't be put here.
  const context = (name: string): SealContext => ["step", jobId, name];
  const open = (name: string, stored: string | undefined): string | undefined => {
    if (!stored?.startsWith(SEALED)) return stored;
    const sealed = stored.slice(SEALED.length);
    if (!cipher) throw withoutKey(sealedKeyId(sealed));
    return cipher.open(sealed, context(name)).toString("utf8");
  };
  return {
    read: async (name) => open(name, await store.read(name)),
    store: async (name, result) =>
      open(
        name,
        await store.store(
          name,
          cipher?.keyId === undefined ? result : SEALED + cipher.seal(Buffer.from(result), context(name)),
        ),
      ),
  };
}

function encoded(name: string, value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify({ value });
  } catch (cause) {
    throw new TypeError(`The result of step "${name}" can't be stored: JSON can't carry it`, { cause });
  }
  if (text.length > MAX_RESULT) {
    throw new RangeError(
      `The result of step "${name}" is ${text.length} characters long; at most ${MAX_RESULT} are stored with a job`,
    );
  }
  return text;
}

function decoded(text: string): unknown {
  return (JSON.parse(text) as { value?: unknown }).value;
}
