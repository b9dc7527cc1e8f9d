import { describe, expect, it } from "vitest";
import { headerLookup } from "../headers.ts";
import type { HmacScheme } from "../provider.ts";
import { providers } from "../providers/index.ts";
import { schemesOf } from "./index.ts";
import { messageProblem, signedMessage } from "./message.ts";

describe("signedMessage", () => {
  const message = (template: string) => {
    const parts: Buffer[] = [];
    const received = {
      method: "PUT",
      url: "https://hooks.example/a%3Ab%20c?q=1",
      body: Uint8Array.of(0xff, 0x00),
      header: headerLookup({ "X-Id": "a", "x-dot": "a.b" }),
    };
    const values = { received, timestamp: "17", secret: Uint8Array.of(0x53) };
    const problem = signedMessage(template, values, (bytes) => parts.push(Buffer.from(bytes as string)));
    return problem ?? Buffer.concat(parts).toString("latin1");
  };

  it("puts body, timestamp and headers where the template says, byte for byte", () => {
    expect(message("v0:{timestamp}:{body}")).toBe("v0:17:\xff\0");
    expect(message("{body}{body}|{header:x-id}")).toBe("\xff\0\xff\0|a");
    expect(message("{method}{url}{secret}")).toBe("PUThttps://hooks.example/a%3Ab%20c?q=1S");
    expect(message("{unescaped-url}")).toBe("https://hooks.example/a:b%20c?q=1");
  });

  it("says why it can't", () => {
    expect(message("{header:x-none}.{body}")).toBe("missing_signed_header");
    expect(message("{header:x-dot}.{body}")).toBe("malformed_signed_header");
  });
});

describe("messageProblem", () => {
  const timestamp = { from: { pair: "t" }, unit: "s", toleranceS: 300 } as const;
  const problem = (message: unknown, timed = false) =>
    messageProblem({ message, ...(timed ? { timestamp } : {}) } as HmacScheme);

  it("has nothing against the rows that come with the library", () => {
    for (const scheme of [...providers.values()].flatMap(schemesOf)) {
      if ("message" in scheme) expect(messageProblem(scheme)).toBeUndefined();
    }
  });

  it.each(["{bdy}{body}", "{body}{header:}", "{body}{header:X-Id}", "{body}{", "{}{body}"])(
    "names the part of %j that means nothing",
    (message) => {
      expect(problem(message)).toContain("Unknown part {");
    },
  );

  it("refuses a message without the body, which anyone could change", () => {
    expect(problem("{timestamp}", true)).toContain("leaves {body} out");
    expect(problem("")).toContain("leaves {body} out");
    expect(problem(undefined)).toBe("the row's scheme has no message");
  });

  it("refuses a window over a timestamp that isn't signed, and a signed one without a window", () => {
    expect(problem("{body}", true)).toContain("go together");
    expect(problem("{timestamp}.{body}")).toContain("go together");
    expect(problem("{timestamp}.{body}", true)).toBeUndefined();
  });
});
