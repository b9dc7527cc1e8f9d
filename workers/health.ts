import { createServer } from "node:http";

/**
 * Answers `GET /healthz` as long as the event loop turns, for the container's health check. Nothing more: a Redis
 * that is slow or away is no reason to restart a worker that will go on by itself.
 * @param port 0 opens nothing
 * @returns closes it
 */
export async function serveHealth(port: number): Promise<() => void> {
  if (port === 0) return () => {};
  const server = createServer((request, response) => {
    const known = request.method === "GET" && request.url === "/healthz";
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: known }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  return () => {
    server.closeAllConnections();
    server.close();
  };
}
