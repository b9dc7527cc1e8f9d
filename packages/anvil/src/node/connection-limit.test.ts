import { connect, type Socket } from "node:net";
import { waitUntil } from "anvil-testkit";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "./listen.ts";

async function limited(maxConnections: number) {
  const server = await listen(
    { fetch: () => new Response("ok") },
    { host: "127.0.0.1", port: 0, maxConnections },
  );
  onTestFinished(() => server.close(100));
  const open = async (): Promise<{ socket: Socket; said: () => string; closed: () => boolean }> => {
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let said = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    return { socket, said: () => said, closed: () => socket.destroyed };
  };
  const ask = async (connection: Awaited<ReturnType<typeof open>>) => {
    connection.socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await waitUntil(() => connection.said().endsWith("ok"), { what: "an answer" });
  };
  return { open, ask };
}

it("closes what is kept alive for nothing before it turns anybody away", async () => {
  const { open, ask } = await limited(10);
  const idle: Awaited<ReturnType<typeof open>>[] = [];
  for (let n = 0; n < 8; n++) {
    const connection = await open();
    await ask(connection);
    idle.push(connection);
  }
  expect(idle.filter(({ closed }) => closed())).toEqual([]);
  // The ninth is the one that comes near the limit.
  const busy = await open();
  await waitUntil(() => idle.every(({ closed }) => closed()), {
    what: "the idle ones are closed",
    timeoutMs: 15_000,
  });
  await ask(busy);
});

it("takes no more than its limit, and takes others again once some have gone", async () => {
  const { open, ask } = await limited(10);
  // Half a request each: not idle, so they stay.
  const half = await Promise.all(Array.from({ length: 10 }, open));
  for (const { socket } of half) socket.write("GET / HTTP/1.1\r\n");
  const over = await open();
  await waitUntil(() => over.closed(), { what: "the eleventh is closed" });
  expect(half.filter(({ closed }) => closed())).toEqual([]);
  half[0]?.socket.destroy();
  await waitUntil(async () => ask(await open()).then(() => true), { what: "another one is served" });
});
