import { createHmac, timingSafeEqual } from "node:crypto";
import { Queue } from "bullmq";
import { Hono } from "hono";
import { handle } from "hono/aws-lambda";

/**
 * An ingress as it is commonly written: Hono, and BullMQ's Queue. It can do much less than ours does, so what it
 * takes longer is the Queue's.
 */
const { REDIS_URL = "", WEBHOOK_SECRET = "" } = process.env;
const queue = new Queue("webhooks", { prefix: "{queue}", connection: { url: REDIS_URL } });

const app = new Hono().post("/webhooks", async (context) => {
  const body = Buffer.from(await context.req.arrayBuffer());
  const expected = createHmac("sha256", WEBHOOK_SECRET).update(body).digest();
  const given = Buffer.from(context.req.header("x-signature") ?? "", "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return context.body(null, 401);
  const { id } = await queue.add("event", body.toString());
  return context.json({ jobId: id }, 202);
});

export const handler = handle(app);
