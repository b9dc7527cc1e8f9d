import fc from "fast-check";
import { expect, it } from "vitest";
import { growingBytes } from "./growing-bytes.ts";

it("gives back what came, however it was cut up", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (pieces) => {
      const all = Buffer.concat(pieces);
      const body = growingBytes(all.length, () => true);
      for (const piece of pieces) expect(body.add(piece)).toBe(true);
      expect(Buffer.from(body.bytes()).equals(all)).toBe(true);
    }),
  );
});

it("keeps a body of one piece without a copy", () => {
  const piece = new Uint8Array(10).fill(1);
  const body = growingBytes(100, () => true);
  body.add(piece);
  expect(body.bytes().buffer).toBe(piece.buffer);
});

it("never writes into a piece that it was given", () => {
  const first = new Uint8Array(8).subarray(0, 4);
  const body = growingBytes(100, () => true);
  body.add(first);
  body.add(new Uint8Array(4).fill(9));
  expect([...new Uint8Array(first.buffer)]).toEqual(Array(8).fill(0));
});

it("asks for room a few times, never for more than the limit, and keeps nothing that was refused", () => {
  const asked: number[] = [];
  const body = growingBytes(1_000, (bytes) => asked.push(bytes) > 0);
  for (let n = 0; n < 1_000; n++) body.add(Uint8Array.of(n));
  expect(asked.length).toBeLessThan(12);
  expect(asked.at(-1)).toBe(1_000);

  const small = growingBytes(1_000, (bytes) => bytes <= 16);
  for (let n = 0; n < 16; n++) expect(small.add(Uint8Array.of(n))).toBe(true);
  expect(small.add(Uint8Array.of(16))).toBe(false);
  expect([...small.bytes()]).toEqual(Array.from({ length: 16 }, (_, n) => n));
});
