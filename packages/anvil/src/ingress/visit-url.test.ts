import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { visitUrl } from "./visit-url.ts";

async function serve(respond: (answer: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((incoming, answer) => {
    asked.push(incoming.url ?? "");
    respond(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?Token=made-up-token`;
  return { url, asked };
}

it("calls the URL as it is, once, and doesn't wait for a body that never ends", async () => {
  const { url, asked } = await serve((answer) => void answer.writeHead(200).write("<Confirm"));
  await visitUrl(url);
  expect(asked).toEqual(["/?Token=made-up-token"]);
});

for (const [what, respond, reason] of [
  ["an error", (answer: ServerResponse) => answer.writeHead(403).end(), "status 403"],
  [
    "a redirect",
    (answer: ServerResponse) => answer.writeHead(302, { location: "/elsewhere" }).end(),
    "TypeError",
  ],
  ["a broken connection", (answer: ServerResponse) => answer.destroy(), "TypeError"],
  ["silence", () => {}, "TimeoutError"],
] as const) {
  it(`fails by ${what}, and says so without the token`, async () => {
    const { url, asked } = await serve(respond);
    const error = (await visitUrl(url).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toBe(`127.0.0.1: ${reason}`);
    expect(`${error.stack}${String(error.cause)}`).not.toContain("made-up-token");
    expect(asked).toHaveLength(1);
  });
}

it("fails where nobody listens", async () => {
  const { url } = await serve(() => {});
  await expect(visitUrl(url.replace(/:\d+/, ":1"))).rejects.toThrow("127.0.0.1: TypeError");
});
