import { handler } from "../../functions/ingress.ts";

/**
 * Invokes the ingress function as Lambda does, one event after the other, and prints each answer as a line of JSON.
 * It stays up afterwards, as a sandbox does. Environment: EVENTS (JSON list), and what the function reads.
 */
for (const event of JSON.parse(process.env.EVENTS ?? "[]")) {
  const answer = await handler(event, { awsRequestId: "made-up" } as never);
  console.log(`answer ${JSON.stringify(answer)}`);
}
console.log("all answered");
