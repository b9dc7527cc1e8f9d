import type { APIGatewayProxyEventV2 } from "aws-lambda";

/** A function URL event of payload format 2.0, as AWS documents it, with names lowered as AWS does. */
export function functionUrlEvent(request: {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  isBase64Encoded: boolean;
}): APIGatewayProxyEventV2 {
  const [rawPath = "/", rawQueryString = ""] = request.path.split("?");
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString,
    headers: { host: "made-up-id.lambda-url.eu-west-1.on.aws", ...request.headers },
    requestContext: {
      accountId: "anonymous",
      apiId: "made-up-id",
      domainName: "made-up-id.lambda-url.eu-west-1.on.aws",
      domainPrefix: "made-up-id",
      http: {
        method: request.method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: "192.0.2.1",
        userAgent: "test",
      },
      requestId: "00000000-0000-0000-0000-000000000000",
      routeKey: "$default",
      stage: "$default",
      time: "01/Dec/2026:00:00:00 +0000",
      timeEpoch: 1_796_083_200_000,
    },
    ...(request.body === undefined ? {} : { body: request.body }),
    isBase64Encoded: request.isBase64Encoded,
  };
}
