import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeAws {
  readonly url: string;
  close(): void;
}

const ACCOUNT = "123456789012";
const ETAG = '"made-up"';

/**
 * The few calls that SST's command line itself makes: SSM (bootstrap, passphrase), S3 (state, lock, secrets) and STS.
 * Kept in memory, so that what one command stores the next one finds.
 */
export async function startFakeAws(): Promise<FakeAws> {
  const parameters = new Map<string, string>([["/sst/bootstrap", JSON.stringify(bootstrap)]]);
  const objects = new Map<string, Buffer>();

  const server = createServer(async (request, response) => {
    const body = await read(request);
    const target = String(request.headers["x-amz-target"] ?? "");
    const answer = target.startsWith("AmazonSSM.")
      ? ssm(target, JSON.parse(body.toString()), parameters)
      : body.includes("Action=GetCallerIdentity")
        ? xml(200, CALLER_IDENTITY)
        : s3(request, body, objects);
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === "HEAD" ? undefined : answer.body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const bootstrap = {
  version: 5,
  asset: "sst-asset-test",
  state: "sst-state-test",
  assetEcrRegistryId: ACCOUNT,
  assetEcrUrl: `${ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/sst-asset`,
};

const CALLER_IDENTITY = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::${ACCOUNT}:user/test</Arn><UserId>TEST</UserId><Account>${ACCOUNT}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer;
}

function ssm(
  target: string,
  { Name, Value }: { Name: string; Value?: string },
  parameters: Map<string, string>,
): Answer {
  if (target.endsWith(".GetParameter")) {
    const value = parameters.get(Name);
    if (value === undefined) return json(400, { __type: "ParameterNotFound", message: Name });
    return json(200, { Parameter: { Name, Value: value, Type: "String", Version: 1 } });
  }
  if (target.endsWith(".PutParameter")) parameters.set(Name, Value ?? "");
  else if (target.endsWith(".DeleteParameter")) parameters.delete(Name);
  else return json(400, { __type: "NotImplemented", message: target });
  return json(200, { Version: 1 });
}

/** Path style: `/bucket/key`, as the AWS SDK addresses an endpoint given by its number. */
function s3(request: IncomingMessage, body: Buffer, objects: Map<string, Buffer>): Answer {
  const url = new URL(request.url ?? "/", "http://localhost");
  const key = decodeURIComponent(url.pathname.slice(1));
  const isBucket = !key.replace(/\/$/, "").includes("/");
  if (request.method === "GET" && isBucket) {
    const bucket = key.replace(/\/$/, "");
    const prefix = `${bucket}/${url.searchParams.get("prefix") ?? ""}`;
    const keys = [...objects.keys()].filter((name) => name.startsWith(prefix));
    const contents = keys.map((name) => `<Contents><Key>${name.slice(bucket.length + 1)}</Key></Contents>`);
    return xml(
      200,
      `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }
  if (request.method === "POST" && url.searchParams.has("delete")) {
    for (const [, name] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) {
      objects.delete(`${key.replace(/\/$/, "")}/${name}`);
    }
    return xml(200, "<DeleteResult/>");
  }
  if (request.method === "PUT") {
    objects.set(key, isChunked(request) ? unchunked(body) : body);
    return { status: 200, headers: { etag: ETAG } };
  }
  if (request.method === "DELETE") {
    objects.delete(key);
    return { status: 204 };
  }
  const found = objects.get(key);
  if (!found) return xml(404, `<Error><Code>NoSuchKey</Code><Message>${key}</Message></Error>`);
  return { status: 200, headers: { "content-length": found.length, etag: ETAG }, body: found };
}

function isChunked({ headers }: IncomingMessage): boolean {
  return (
    String(headers["content-encoding"]).includes("aws-chunked") ||
    String(headers["x-amz-content-sha256"]).startsWith("STREAMING")
  );
}

/** The AWS SDK sends a body in signed pieces: each its length in hex, a line end, and its bytes. */
function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

function xml(status: number, body: string): Answer {
  return { status, headers: { "content-type": "application/xml" }, body };
}

function json(status: number, content: object): Answer {
  return {
    status,
    headers: { "content-type": "application/x-amz-json-1.1" },
    body: JSON.stringify(content),
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
