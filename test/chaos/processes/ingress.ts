import { createServer } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";
import { joinFleet, onStop, tellReady } from "./fleet-member.ts";
import { timedLog } from "./timed-log.ts";

/** The ingress of a chaos run. Environment: REDIS_URL, PREFIX, PORT, SECRETS and OPTIONS (JSON). */
joinFleet();
const { REDIS_URL = "", PREFIX = "", PORT = "0", SECRETS = "{}", OPTIONS = "{}" } = process.env;
const { signed, stripe } = JSON.parse(SECRETS) as { signed: string; stripe: string };
const app = createServer({
  sources: {
    signed: { provider: "hmac", secret: signed },
    stripe: { provider: "stripe", secret: stripe },
  },
  redis: REDIS_URL,
  prefix: PREFIX,
  log: timedLog,
  ...JSON.parse(OPTIONS),
});
const server = await listen(app, { host: "127.0.0.1", port: Number(PORT) });
onStop(async () => {
  await server.close(2_000);
  await app.close();
});
tellReady(server.port);
