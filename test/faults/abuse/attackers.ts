import { connect, type Socket } from "node:net";

/** What an attacker sees of one of its connections. */
export type Attacker = {
  readonly socket: Socket;
  /** The first bytes that came back. */
  answer(): string;
  closed(): boolean;
};

const KEPT = 200;

/** Many connections, a few hundred being made at a time; each is handed over once it is there. */
export async function attackers(
  port: number,
  count: number,
  start: (attacker: Attacker) => void = () => {},
): Promise<{ readonly all: readonly Attacker[]; leave(): void }> {
  const all: Attacker[] = [];
  const open = () =>
    new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      let answer = "";
      const attacker = { socket, answer: () => answer, closed: () => socket.destroyed };
      all.push(attacker);
      socket.on("data", (bytes) => {
        if (answer.length < KEPT) answer += bytes.toString("latin1").slice(0, KEPT);
      });
      socket.on("error", () => resolve());
      socket.on("connect", () => {
        start(attacker);
        resolve();
      });
    });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await open();
    }
  };
  await Promise.all(Array.from({ length: 200 }, worker));
  return {
    all,
    leave() {
      for (const { socket } of all) socket.destroy();
    },
  };
}

/** Anyone can make up a signature of the right form. */
export const FALSE_SIGNATURE: string = `sha256=${"0".repeat(64)}`;

export function head(headers: readonly string[], path = "/webhooks"): string {
  return [`POST ${path} HTTP/1.1`, "host: x", ...headers, "", ""].join("\r\n");
}

/** Sends the same bytes again and again, as fast as they are taken, until the connection ends. */
export function pour(socket: Socket, bytes: Uint8Array): void {
  const more = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}
