import { expect, it } from "vitest";
import { connectionTrouble } from "./connection-trouble.ts";

const reset = new Error("read ECONNRESET");

it("names TLS where plain text was hung up on, and no connection has worked yet", () => {
  expect(connectionTrouble(reset, { secure: false, worked: false })).toMatch(
    /^read ECONNRESET .*rediss:\/\//,
  );
});

it("doesn't where that can't be it", () => {
  for (const where of [
    { secure: false, worked: true },
    { secure: true, worked: false },
  ]) {
    expect(connectionTrouble(reset, where)).toBe("read ECONNRESET");
  }
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:1");
  expect(connectionTrouble(refused, { secure: false, worked: false })).toBe(refused.message);
});
