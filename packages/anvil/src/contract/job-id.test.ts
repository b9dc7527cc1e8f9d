import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJobId, newJobId } from "./job-id.ts";

const LAST_MS = 2 ** 48 - 1;
const randomBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

describe("newJobId", () => {
  it("is the example of RFC 9562, appendix A.6, without its dashes", () => {
    // 017F22E2-79B0-7CC3-98C4-DC0C0C07398F, of 2022-02-22T19:22:22.000Z
    const random = Buffer.from("0cc318c4dc0c0c07398f", "hex");
    expect(newJobId(1_645_557_742_000, random)).toBe("wh_017f22e279b07cc398c4dc0c0c07398f");
  });

  it("has the form of a job id, with version 7 and the RFC's variant, whatever the time and the random bytes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LAST_MS }), randomBytes, (nowMs, random) => {
        const id = newJobId(nowMs, random);
        expect(isJobId(id)).toBe(true);
        expect(id[3 + 12]).toBe("7");
        expect("89ab").toContain(id[3 + 16]);
        expect(Number.parseInt(id.slice(3, 15), 16)).toBe(nowMs);
      }),
    );
  });

  it("keeps every random bit that the version and the variant leave", () => {
    const none = newJobId(0, new Uint8Array(10));
    const all = newJobId(0, new Uint8Array(10).fill(0xff));
    expect(none).toBe("wh_00000000000070008000000000000000");
    expect(all).toBe("wh_0000000000007fffbfffffffffffffff");
  });

  it("sorts by time as text", () => {
    const time = fc.integer({ min: 0, max: LAST_MS });
    fc.assert(
      fc.property(time, time, randomBytes, randomBytes, (a, b, randomA, randomB) => {
        fc.pre(a < b);
        expect(newJobId(a, randomA) < newJobId(b, randomB)).toBe(true);
      }),
    );
  });

  it("is another one each time in the same millisecond", () => {
    const ids = Array.from({ length: 10_000 }, () => newJobId(1_760_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("isJobId", () => {
  it.each([
    "",
    "wh_",
    "123",
    "017f22e279b07cc398c4dc0c0c07398f",
    "wh_017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "wh_017F22E279B07CC398C4DC0C0C07398F",
    "wh_017f22e279b07cc398c4dc0c0c07398",
    "wh_017f22e279b07cc398c4dc0c0c07398f0",
    "wh_017f22e279b07cc398c4dc0c0c07398f\n",
    "wh_017f22e279b07cc398c4dc0c0c07398:",
  ])("refuses %j", (text) => {
    expect(isJobId(text)).toBe(false);
  });
});
