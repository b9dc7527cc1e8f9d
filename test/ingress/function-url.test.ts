import { createHmac } from "node:crypto";
import { sharedRedisUrl, uniquePrefix } from "anvil-testkit";
import type { Context } from "aws-lambda";
import { expect, it } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { functionUrlHandler } from "../../functions/function-url.ts";
import { functionUrlEvent } from "./function-url-event.ts";
import { functionUrlHost, isText } from "./hosts.ts";
import { ingressContract } from "./ingress.contract.ts";

const context = { awsRequestId: "made-up" } as Context;

ingressContract(
  "behind a function URL, every body as base64",
  functionUrlHost(() => true),
);
ingressContract(
  "behind a function URL, text as text",
  functionUrlHost((body) => !isText(body)),
);

it("answers 400 to what is said to be base64 and isn't, and goes on", async () => {
  const app = createServer({
    secret: "made-up-secret-of-the-tests",
    redis: sharedRedisUrl(),
    prefix: uniquePrefix(),
    log: silentLog,
  });
  const handler = functionUrlHandler(app);
  const event = { method: "POST", path: "/webhooks", headers: { "x-signature": "00" } };
  for (const body of ["***", "YQ", "YQ==YQ==", "Y Q=", "é"]) {
    const answer = await handler(functionUrlEvent({ ...event, body, isBase64Encoded: true }), context);
    expect(answer.statusCode, body).toBe(400);
  }
  const body = "{}";
  const good = createHmac("sha256", "made-up-secret-of-the-tests").update(body).digest("hex");
  const answer = await handler(
    functionUrlEvent({ ...event, headers: { "x-signature": good }, body, isBase64Encoded: false }),
    context,
  );
  expect(answer.statusCode).toBe(202);
  await app.close();
});
