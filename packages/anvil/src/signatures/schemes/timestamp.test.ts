import { describe, expect, it } from "vitest";
import { checkTimestamp } from "./timestamp.ts";

const now = Date.parse("2025-10-09T08:53:20Z");
const rule = (unit: "s" | "ms" | "rfc3339", toleranceS: number | "none" = 300) => ({
  from: { header: "x-time" },
  unit,
  toleranceS,
});
const malformed = { ok: false, reason: "malformed_timestamp" };

describe("a date as in RFC 3339", () => {
  it.each([
    "2025-10-09T08:53:20Z",
    "2025-10-09T08:53:20.1Z",
    "2025-10-09T08:53:20.12Z",
    "2025-10-09T08:53:20.123456789Z",
    "2025-10-09T10:53:20+02:00",
    "2025-10-09T03:23:20-05:30",
    "2025-10-09T08:53:20-00:00",
    "2025-10-10T00:53:20+16:00",
  ])("%s is now", (text) => {
    expect(checkTimestamp(rule("rfc3339", 1), text, now)).toBeUndefined();
  });

  it("may be in a leap year", () => {
    expect(
      checkTimestamp(rule("rfc3339"), "2024-02-29T00:00:00Z", Date.parse("2024-02-29T00:00:00Z")),
    ).toBeUndefined();
  });

  it.each([
    "2025-10-09T24:00:00Z",
    "2025-10-09T25:00:00Z",
    "2025-10-09T08:60:20Z",
    "2025-10-09T08:53:61Z",
    "2025-13-01T00:00:00Z",
    "2025-00-09T00:00:00Z",
    "2025-10-00T00:00:00Z",
    "2025-10-32T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2025-02-30T00:00:00Z",
    "2025-04-31T00:00:00Z",
    "2025-10-09T08:53:20+24:00",
    "2025-10-09T08:53:20+02:60",
    "2025-10-09T08:53:20",
    "2025-10-09T08:53:20.Z",
    "2025-10-09T08:53:20.1234567890Z",
    "2025-10-09T08:53:20 Z",
    "2025-10-09 08:53:20Z",
    "2025-10-09t08:53:20z",
    "2025-10-09T08:53Z",
    "2025-10-09",
    "20251009T085320Z",
    "2025-W41-4T08:53:20Z",
    "+002025-10-09T08:53:20Z",
    "-000001-10-09T08:53:20Z",
    "2025-10-09T08:53:20Z\n",
    "2025-10-09T08:53:20Z, 2025-10-09T08:53:20Z",
    "Thu, 09 Oct 2025 08:53:20 GMT",
    "2025-10-09T08:53:20+0200",
    "٢٠٢٥-10-09T08:53:20Z",
    "1760000000",
    "now",
    "",
  ])("isn't %j", (text) => {
    for (const tolerance of [300, "none"] as const) {
      expect(checkTimestamp(rule("rfc3339", tolerance), text, now)).toEqual(malformed);
    }
  });
});

describe("a number", () => {
  const seconds = now / 1000;

  it("of seconds or milliseconds is held against the clock in both directions, the edge is inside", () => {
    for (const [unit, scale] of [
      ["s", 1],
      ["ms", 1000],
    ] as const) {
      const check = (offset: number) => checkTimestamp(rule(unit), String((seconds + offset) * scale), now);
      expect([check(-300), check(0), check(300)]).toEqual([undefined, undefined, undefined]);
      expect(check(-301)).toEqual({ ok: false, reason: "timestamp_too_old" });
      expect(check(301)).toEqual({ ok: false, reason: "timestamp_in_future" });
    }
  });

  it("of the other unit is far off", () => {
    expect(checkTimestamp(rule("s"), String(now), now)).toEqual({ ok: false, reason: "timestamp_in_future" });
    expect(checkTimestamp(rule("ms"), String(seconds), now)).toEqual({
      ok: false,
      reason: "timestamp_too_old",
    });
  });

  it.each([
    "",
    "-1",
    "+1",
    " 1",
    "1 ",
    "1.0",
    "1e9",
    "0x1",
    "01",
    "1,1",
    "1, 1",
    "NaN",
    "Infinity",
    "1_0",
    "１",
    "9".repeat(16),
  ])("isn't %j", (text) => {
    for (const unit of ["s", "ms"] as const) {
      expect(checkTimestamp(rule(unit, "none"), text, now)).toEqual(malformed);
    }
  });

  it("lets nothing in by a window that is no number", () => {
    for (const tolerance of [Number.NaN, undefined, null]) {
      const broken = { ...rule("s"), toleranceS: tolerance as number };
      expect(checkTimestamp(broken, "1", now)).toMatchObject({ ok: false });
      expect(checkTimestamp(broken, String(seconds + 1_000), now)).toMatchObject({ ok: false });
    }
  });
});
