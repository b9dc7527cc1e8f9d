import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "anvil-bootstrap/free-port";
import { TestRunner } from "vitest";
import { atTestEnd } from "./at-test-end.ts";
import { startRedis } from "./redis.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

export interface TestRedisTls {
  /** `rediss://127.0.0.1:<port>`; the certificate is for 127.0.0.1 and localhost. */
  readonly url: string;
  readonly port: number;
  /** The same server without TLS. */
  readonly plainUrl: string;
  /** The self-signed CA, as PEM: `new Redis(url, { tls: { ca } })`. */
  readonly ca: string;
  stop(): Promise<void>;
}

/** A Redis that speaks TLS. Without openssl on this machine the test is skipped, and the report says why. */
export async function startRedisTls(): Promise<TestRedisTls> {
  const { path: dir, remove } = await temporaryFolder("tls");
  atTestEnd(remove);
  try {
    await makeCertificates(dir);
    const port = await freePort();
    const redis = await startRedis({
      args: [
        ...[
          "--tls-port",
          String(port),
          "--tls-auth-clients",
          "no",
          "--tls-ca-cert-file",
          join(dir, "ca.crt"),
        ],
        ...["--tls-cert-file", join(dir, "redis.crt"), "--tls-key-file", join(dir, "redis.key")],
      ],
    });
    return {
      url: `rediss://127.0.0.1:${port}`,
      port,
      plainUrl: redis.url,
      ca: await readFile(join(dir, "ca.crt"), "utf8"),
      async stop() {
        await redis.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function makeCertificates(dir: string): Promise<void> {
  const subject = ["-days", "1", "-nodes", "-newkey", "rsa:2048"];
  await openssl(dir, [
    "req",
    "-x509",
    ...subject,
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
    "-subj",
    "/CN=anvil-test-ca",
  ]);
  await openssl(dir, [
    ...["req", "-x509", ...subject, "-keyout", "redis.key", "-out", "redis.crt", "-subj", "/CN=localhost"],
    ...["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  ]);
}

async function openssl(dir: string, args: readonly string[]): Promise<void> {
  try {
    await run("openssl", args, { cwd: dir });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    TestRunner.getCurrentTest()?.context.skip(
      "openssl is not installed, and it makes the certificates for TLS",
    );
    throw new Error("openssl is not installed, and it makes the certificates for TLS: install it.");
  }
}
