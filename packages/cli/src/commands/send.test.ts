import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sharedRedisUrl, temporaryFolder, uniquePrefix } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { anvil, startAnvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";
import { ask } from "../fixtures/store-event.ts";

const CONFIG = `import { defineConfig, env } from "webhook-anvil/config";
export default defineConfig({
  sources: {
    default: { provider: "hmac", secret: env("WEBHOOK_SECRET") },
    stripe: { provider: "stripe", secret: env("STRIPE_SECRET") },
    github: { provider: "github", secret: env("GITHUB_SECRET") },
    svix: { provider: "standard-webhooks", secret: env("SVIX_SECRET") },
    adyen: { provider: "adyen", secret: "00112233445566778899aabbccddeeff" },
    mailgun: { provider: "mailgun", secret: "a-secret-of-the-tests" },
    braintree: { provider: "braintree", secret: "a-public-key|a-private-key" },
    gitlab: { provider: "gitlab", secret: "a-token-of-the-tests" },
    hubspot: { provider: "hubspot", secret: "a-secret-of-the-tests", url: "https://hooks.example.com/hubspot" },
    twilio: { provider: "twilio", secret: "a-secret-of-the-tests", url: "https://hooks.example.com/twilio" },
    discord: { provider: "discord", secret: "${"0123456789abcdef".repeat(4)}" },
  },
});
`;

async function ingress() {
  const folder = await temporaryFolder("send");
  onTestFinished(() => folder.remove());
  await writeFile(join(folder.path, "anvil.config.ts"), CONFIG);
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const secrets = {
    WEBHOOK_SECRET: "a-secret-of-the-tests",
    STRIPE_SECRET: "whsec_a_secret_of_the_tests",
    GITHUB_SECRET: "another-secret-of-the-tests",
    SVIX_SECRET: `whsec_${Buffer.from("a third secret of the tests").toString("base64")}`,
  };
  const server = startAnvil(["ingress"], {
    cwd: folder.path,
    env: { REDIS_URL: place.redis, ANVIL_PREFIX: place.prefix, PORT: "0", HOST: "127.0.0.1", ...secrets },
  });
  const port = new URL((await server.line(/listening on (http:\/\/[\d.:]+)/))[1] as string).port;
  return {
    place,
    secrets,
    cwd: folder.path,
    port,
    send: (args: string[], env: Record<string, string> = { ...secrets, PORT: port }, input = "") =>
      input === ""
        ? runHere(["send", ...args], { cwd: folder.path, env })
        : anvil(["send", ...args], { cwd: folder.path, env, input }),
  };
}

function answers(stdout: string): { status: number; jobId: string; replayed: boolean }[] {
  return [...stdout.matchAll(/^(\d{3}) (\{.*\})$/gm)].map(([, status, body]) => ({
    status: Number(status),
    ...JSON.parse(body as string),
  }));
}

test("signs for each provider; sent twice, it is one event", async () => {
  const { send, secrets, port, place } = await ingress();
  const wanted = {
    default: ["WEBHOOK_SECRET", "default/order.created"],
    stripe: ["STRIPE_SECRET", "stripe/invoice.paid"],
    github: ["GITHUB_SECRET", "github/issues.opened"],
    svix: ["SVIX_SECRET", "svix/invoice.paid"],
  } as const;
  for (const [source, [secret, name]] of Object.entries(wanted)) {
    // The secrets of the other sources need not be there.
    const { code, stdout, stderr } = await send([source, "--times", "2"], {
      PORT: port,
      [secret]: secrets[secret],
    });
    expect({ source, code, stderr }).toEqual({ source, code: 0, stderr: "" });
    const [first, second] = answers(stdout);
    expect(first).toMatchObject({ status: 202, replayed: false });
    expect(second).toMatchObject({ status: 202, replayed: true, jobId: first?.jobId });
    expect(
      await ask(place.redis, (client) => client.hget(`${place.prefix}:webhooks:${first?.jobId}`, "name")),
    ).toBe(name);
  }
  const another = await send(["github", "--type", "push"]);
  const jobId = answers(another.stdout)[0]?.jobId;
  expect(await ask(place.redis, (client) => client.hget(`${place.prefix}:webhooks:${jobId}`, "name"))).toBe(
    "github/push",
  );
});

test("signs in the body, in a form, with a token, and over the public URL, which is another than it posts to", async () => {
  const { send, cwd, place } = await ingress();
  const sources = ["mailgun", "braintree", "gitlab", "hubspot", "twilio"];
  const sent = await Promise.all(sources.map((source) => send([source, "--times", "2"])));
  for (const { code, stdout, stderr } of sent) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [first, second] = answers(stdout);
    expect(first).toMatchObject({ status: 202, replayed: false });
    expect(second).toMatchObject({ status: 202, replayed: true, jobId: first?.jobId });
  }
  const stored = sent.map(({ stdout }) => answers(stdout)[0]?.jobId);
  const names = stored.map((jobId) =>
    ask(place.redis, (client) => client.hget(`${place.prefix}:webhooks:${jobId}`, "name")),
  );
  expect(await Promise.all(names)).toEqual([
    "mailgun/delivered",
    "braintree",
    "gitlab/push",
    "hubspot/contact.creation",
    "twilio/onMessageAdded",
  ]);
  // Adyen wants to read this, and no JSON.
  expect((await send(["adyen"])).stdout).toMatch(/^202 \[accepted\]$/m);
  // The hash of a body that is no form is in the query, which is signed: it goes along.
  await writeFile(join(cwd, "event.json"), '{"a":1}');
  expect(await send(["twilio", "--file", "event.json"])).toMatchObject({ code: 0, stderr: "" });
});

test("what only its provider can sign isn't sent, and something else is proposed", async () => {
  const folder = await temporaryFolder("send");
  onTestFinished(() => folder.remove());
  await writeFile(join(folder.path, "anvil.config.ts"), CONFIG);
  const { code, stdout, stderr } = await runHere(["send", "discord"], { cwd: folder.path });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^anvil: only discord can sign its events.*anvil verify discord --request FILE\n$/);
});

test("--file sends its bytes as they are, - those of standard input", async () => {
  const { send, cwd, place } = await ingress();
  await writeFile(join(cwd, "event.json"), '\ufeff{ "type": "from.file" }\r\n');
  const fromFile = answers((await send(["--file", "event.json"])).stdout)[0];
  const fromInput = answers((await send(["--file", "-"], undefined, "no json\n")).stdout)[0];
  const bodyOf = async (jobId = "") =>
    JSON.parse(
      (await ask(place.redis, (client) => client.hget(`${place.prefix}:webhooks:${jobId}`, "data"))) ?? "",
    ).body;
  expect(await bodyOf(fromFile?.jobId)).toBe('\ufeff{ "type": "from.file" }\r\n');
  expect(await bodyOf(fromInput?.jobId)).toBe("no json\n");
  const missing = await send(["--file", "nowhere.json"]);
  expect(missing).toMatchObject({ code: 1, stderr: "anvil: --file nowhere.json can't be read (ENOENT)\n" });
});

test("--url names another server, with the source's path when it has none", async () => {
  const { send, port, secrets } = await ingress();
  const env = { ...secrets, PORT: "1" };
  expect((await send(["stripe", "--url", `http://127.0.0.1:${port}`], env)).code).toBe(0);
  expect((await send(["stripe", "--url", `http://127.0.0.1:${port}/webhooks/stripe`], env)).code).toBe(0);
  const elsewhere = await send(["stripe", "--url", `http://127.0.0.1:${port}/hooks`], env);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stdout).toContain("404 ");
});

test("a refusal and silence are exit code 1", async () => {
  const { send, port } = await ingress();
  const refused = await send([], { PORT: port, WEBHOOK_SECRET: "not-the-one-of-the-server" });
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^401 .*invalid_signature/m);
  expect(refused.stdout).toContain("another secret");
  const silent = await send([], { PORT: "1", WEBHOOK_SECRET: "a-secret-of-the-tests" });
  expect(silent.code).toBe(1);
  expect(silent.stderr).toMatch(
    /^anvil: no answer from http:\/\/127\.0\.0\.1:1\/webhooks \([^\n]+\); [^\n]+\n$/,
  );
});
