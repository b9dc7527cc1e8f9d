import { serve } from "@hono/node-server";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import "./die-at.ts";

/** An ingress in a process of its own. Prints its port. Environment: REDIS_URL, PREFIX, WEBHOOK_SECRET; DIE_AT. */
const { REDIS_URL = "", PREFIX = "", WEBHOOK_SECRET = "" } = process.env;
const app = createServer({ secret: WEBHOOK_SECRET, redis: REDIS_URL, prefix: PREFIX, log: silentLog });
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(`port ${port}`));
