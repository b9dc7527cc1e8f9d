import type { Provider } from "../provider.ts";

/** Svix, and whoever sends through it: Standard Webhooks, v1a included, under older names of the headers. */
export const svix: Provider = {
  name: "svix",
  scheme: [
    {
      kind: "hmac",
      hash: "sha256",
      secret: "whsec",
      signature: {
        header: "svix-signature",
        encoding: "base64",
        layout: { kind: "versions", version: "v1" },
      },
      timestamp: { from: { header: "svix-timestamp" }, unit: "s", toleranceS: 300 },
      message: "{header:svix-id}.{timestamp}.{body}",
    },
    {
      kind: "public-key",
      algorithm: "ed25519",
      key: "whpk",
      signature: {
        header: "svix-signature",
        encoding: "base64",
        layout: { kind: "versions", version: "v1a" },
      },
      timestamp: { from: { header: "svix-timestamp" }, unit: "s", toleranceS: 300 },
      message: "{header:svix-id}.{timestamp}.{body}",
    },
  ],
  identity: [{ header: "svix-id" }],
  type: [{ body: "type" }],
  secretProblem: (secret) =>
    secret.startsWith("whsk_")
      ? "is a private key; the sender's public one is wanted, it starts with whpk_"
      : undefined,
  keepHeaders: ["svix-id", "svix-timestamp"],
  docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
};
