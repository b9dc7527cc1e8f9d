import { connect } from "node:net";
import { waitUntil } from "anvil-testkit";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "./listen.ts";

const REQUEST = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

async function connection() {
  let requests = 0;
  const fetch = () => {
    requests += 1;
    return new Response("ok");
  };
  const server = await listen({ fetch }, { host: "127.0.0.1", port: 0 });
  const socket = connect(server.port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    return server.close(100);
  });
  let answers = 0;
  socket.on("data", (bytes) => {
    answers += bytes.toString().split("HTTP/1.1 200").length - 1;
  });
  socket.on("error", () => {});
  return { socket, requests: () => requests, answers: () => answers };
}

it("closes a connection on which requests are piled up, after a few of them", async () => {
  const { socket, requests } = await connection();
  socket.write(REQUEST.repeat(1_000));
  await waitUntil(() => socket.destroyed, { what: "the connection is closed" });
  expect(requests()).toBeLessThan(20);
});

it("answers two or three that come together, and any number one after the other", async () => {
  const { socket, answers } = await connection();
  socket.write(REQUEST.repeat(3));
  await waitUntil(() => answers() === 3, { what: "three answers" });
  for (let n = 4; n <= 60; n++) {
    socket.write(REQUEST);
    await waitUntil(() => answers() === n, { what: `answer ${n}`, intervalMs: 1 });
  }
  expect(socket.destroyed).toBe(false);
});
