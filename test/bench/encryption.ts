// npm run bench:encryption
//
// What encryption of bodies costs ingress and worker for each event: the body into its envelope and out of it again,
// through JSON as the queue does it, plain and encrypted.

import { randomBytes } from "node:crypto";
import { createCipher } from "../../packages/anvil/src/contract/cipher.ts";
import { decodeBody, encodeBody, encryptBody } from "../../packages/anvil/src/contract/envelope.ts";

const ROUNDS = 40;
/** For one measurement, so that the clock's own steps don't count. */
const LEAST_MS = 20;
const of = { v: 1, source: "default", key: "k".repeat(64) } as const;
const cipher = createCipher(randomBytes(32), []);

const rows = [1_000, 100_000, 1_000_000].map((size) => {
  const body = jsonOf(size);
  const plain = JSON.stringify({ ...of, ...encodeBody(body) });
  const sealed = JSON.stringify({ ...of, ...encryptBody(body, of, cipher) });
  const times = inTurns({
    plainIn: () => JSON.stringify({ ...of, ...encodeBody(body) }),
    sealedIn: () => JSON.stringify({ ...of, ...encryptBody(body, of, cipher) }),
    plainOut: () => decodeBody(JSON.parse(plain)),
    sealedOut: () => decodeBody(JSON.parse(sealed), cipher),
  });
  return {
    "body bytes": size,
    "ingress plain µs": times.plainIn,
    "ingress encrypted µs": times.sealedIn,
    "worker plain µs": times.plainOut,
    "worker encrypted µs": times.sealedOut,
    "stored plain": Buffer.byteLength(plain),
    "stored encrypted": Buffer.byteLength(sealed),
  };
});
console.log(`Node ${process.version}, the fastest of ${ROUNDS} rounds`);
console.table(rows);

/** A payload as senders make them: objects, quotes to be escaped, some text beyond ASCII. */
function jsonOf(bytes: number): Buffer {
  const item = '{"id":"evt_0123456789","amount":4200,"note":"é “quoted”","paid":true},';
  const text = `[${item.repeat(Math.ceil(bytes / item.length))}`;
  return Buffer.concat([Buffer.from(text), Buffer.alloc(bytes)]).subarray(0, bytes);
}

/** Microseconds for one call of each. In turns, so that whatever else this machine does meets all of them. */
function inTurns<Name extends string>(work: Record<Name, () => unknown>): Record<Name, number> {
  const names = Object.keys(work) as Name[];
  const found = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const calls = Object.fromEntries(names.map((name) => [name, callsFor(work[name])])) as Record<Name, number>;
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      const startedAt = performance.now();
      for (let call = 0; call < calls[name]; call++) work[name]();
      found[name].push(((performance.now() - startedAt) / calls[name]) * 1_000);
    }
  }
  return Object.fromEntries(names.map((name) => [name, fastest(found[name])])) as Record<Name, number>;
}

/** How many calls fill one measurement; warm by then. */
function callsFor(work: () => unknown): number {
  const startedAt = performance.now();
  let calls = 0;
  while (performance.now() - startedAt < LEAST_MS * 5) {
    work();
    calls += 1;
  }
  return Math.max(1, Math.ceil(calls / 5));
}

/** Whatever else this machine does only ever adds to it. */
function fastest(values: readonly number[]): number {
  return Number(Math.min(...values).toPrecision(3));
}
