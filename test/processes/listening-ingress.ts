import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createServer } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";

/**
 * The ingress as `anvil ingress` serves it, log included, in a process of its own. Prints its port, and on SIGUSR2
 * what memory it has left after a collection. Environment: OPTIONS (JSON, of createServer), LISTEN (JSON, of listen).
 */
const { OPTIONS = "{}", LISTEN = "{}" } = process.env;
const app = createServer(JSON.parse(OPTIONS));
const { port } = await listen(app, { host: "127.0.0.1", port: 0, ...JSON.parse(LISTEN) });
process.on("SIGUSR2", () => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  console.log(`memory ${JSON.stringify(process.memoryUsage())}`);
});
console.log(`port ${port}`);
