import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { handle, type LambdaEvent } from "hono/aws-lambda";

type App = Parameters<typeof handle>[0];

export type FunctionUrlHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** Serves a Hono app behind a Lambda function URL: events of payload format 2.0, base64 or not. */
export function functionUrlHandler(app: App): FunctionUrlHandler {
  const adapter = handle(app);
  return async (event, context) => {
    // What can't be decoded wasn't sent by anybody whose signature could fit; the adapter would answer 500.
    if (event.isBase64Encoded && !isBase64(event.body ?? "")) return UNDECODABLE;
    return (await adapter(
      event as unknown as LambdaEvent,
      context as never,
    )) as APIGatewayProxyStructuredResultV2;
  };
}

const UNDECODABLE: APIGatewayProxyStructuredResultV2 = {
  statusCode: 400,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    error: { code: "bad_request", message: "The body is not the base64 that it is said to be" },
  }),
};

/** Buffer skips what is no base64; then the decoded length gives it away. */
function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return text.length % 4 === 0 && Buffer.from(text, "base64").length === (text.length / 4) * 3 - padding;
}
