import { expect, test } from "vitest";
import { readCapture } from "./capture.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("raw HTTP, with line ends of either kind, and the body's bytes as they are", () => {
  const body = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0x0d, 0x0a, 0x7b]);
  for (const end of ["\r\n", "\n"]) {
    const head = [
      "POST /in?a=1 HTTP/1.1",
      "Host: hooks.example.com",
      "X-Sig: one",
      "x-sig:  two ",
      "",
      "",
    ].join(end);
    const capture = readCapture(Buffer.concat([Buffer.from(head), body]));
    expect(capture).toMatchObject({
      method: "POST",
      url: "https://hooks.example.com/in?a=1",
      headers: { "x-sig": ["one", "two"] },
      notes: [],
    });
    expect(Buffer.from(capture.body)).toEqual(body);
  }
});

test("Content-Length says where the body ends, and when it is cut off", () => {
  const longer = readCapture(Buffer.from("POST / HTTP/1.1\nContent-Length: 2\n\n{}\n"));
  expect(text(longer.body)).toBe("{}");
  expect(longer.notes).toEqual([expect.stringMatching(/^1 bytes after the end/)]);
  const shorter = readCapture(Buffer.from("POST / HTTP/1.1\nContent-Length: 9\n\n{}"));
  expect(shorter.notes).toEqual([expect.stringMatching(/7 bytes shorter/)]);
});

test("chunks are put together", () => {
  const head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(text(readCapture(Buffer.from(`${head}3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n`)).body)).toBe(
    "abc0123456789",
  );
  const torn = readCapture(Buffer.from(`${head}zz`));
  expect(text(torn.body)).toBe("zz");
  expect(torn.notes).toHaveLength(1);
});

test("a proxy's headers say what the URL was before it", () => {
  const capture = readCapture(
    Buffer.from(
      "POST /in HTTP/1.1\nHost: 10.0.0.1:3000\nX-Forwarded-Host: hooks.example.com\nX-Forwarded-Proto: http\n\n",
    ),
  );
  expect(capture.url).toBe("http://hooks.example.com/in");
});

test("curl --trace, with the answer left out", () => {
  const hex = (bytes: string) =>
    [...(bytes.match(/[\s\S]{1,16}/g) ?? [])]
      .map(
        (line, at) =>
          `${(at * 16).toString(16).padStart(4, "0")}: ${Buffer.from(line).toString("hex").replace(/../g, "$& ")}${"   ".repeat(16 - line.length)}${line.replace(/[^ -~]/g, ".")}`,
      )
      .join("\n");
  const trace = [
    "== Info: Connected to 127.0.0.1 (127.0.0.1) port 3000",
    "=> Send header, 60 bytes (0x3c)",
    hex("POST /in HTTP/1.1\r\nHost: hooks.example.com\r\nX-Sig: abc\r\n\r\n"),
    "=> Send data, 16 bytes (0x10)",
    hex('{"a":"de ad be"}'),
    "<= Recv header, 24 bytes (0x18)",
    hex("HTTP/1.1 401 Nope\r\n"),
  ].join("\n");
  const capture = readCapture(Buffer.from(trace));
  expect(capture).toMatchObject({ headers: { "x-sig": ["abc"] }, url: "https://hooks.example.com/in" });
  expect(text(capture.body)).toBe('{"a":"de ad be"}');
});

test("JSON, with the body as text or base64, and headers as people have them", () => {
  const base = { method: "PUT", url: "https://hooks.example.com/in" };
  const headers = [
    { "X-Sig": "abc" },
    { "x-sig": ["abc"] },
    [["X-Sig", "abc"]],
    [{ name: "X-Sig", value: "abc" }],
  ];
  for (const each of headers) {
    const capture = readCapture(Buffer.from(JSON.stringify({ ...base, headers: each, body: "é" })));
    expect(capture).toMatchObject({ ...base, headers: { "x-sig": ["abc"] } });
    expect(text(capture.body)).toBe("é");
  }
  const binary = readCapture(Buffer.from(JSON.stringify({ headers: {}, bodyBase64: "/wA=" })));
  expect(binary).toMatchObject({ method: "POST", url: "" });
  expect([...binary.body]).toEqual([0xff, 0x00]);
});

test("an event of a function URL", () => {
  const event = {
    version: "2.0",
    rawPath: "/webhooks/stripe",
    rawQueryString: "a=1",
    headers: { "stripe-signature": "t=1,v1=ab" },
    requestContext: {
      domainName: "abc.lambda-url.eu-west-1.on.aws",
      http: { method: "POST", path: "/webhooks/stripe" },
    },
    body: Buffer.from([0xff]).toString("base64"),
    isBase64Encoded: true,
  };
  const capture = readCapture(Buffer.from(JSON.stringify(event)));
  expect(capture).toMatchObject({
    url: "https://abc.lambda-url.eu-west-1.on.aws/webhooks/stripe?a=1",
    headers: { "stripe-signature": ["t=1,v1=ab"] },
  });
  expect([...capture.body]).toEqual([0xff]);
});

test.each([
  ["", "neither HTTP"],
  ["hush hush", "neither HTTP"],
  ['{"hush":', "isn't"],
  ['{"body":"hush"}', "no headers"],
  ['{"headers":{},"body":{"hush":1}}', "JSON itself"],
  ["== Info: x\n=> Send header, 9 bytes\n0000: POST hush", "without the bytes"],
])("what is none of these is said to be none, and never repeated: %j", (given, message) => {
  const read = () => readCapture(Buffer.from(given));
  expect(read).toThrow(SyntaxError);
  expect(read).toThrow(message);
  expect(read).not.toThrow("hush");
});
