import type { Terminal } from "../output/terminal.ts";
import { FAILING_TYPE } from "./shop.ts";
import type { Stage } from "./stage.ts";

/** Which of the demo's settings another terminal must be given, and may be. */
export type Surroundings = {
  /** Made up for the demo, so it may be printed; a secret of the user's isn't ours to print. */
  readonly secretIsMadeUp: boolean;
  readonly redisUrl: string;
  /** It holds a password, which stays off the screen. */
  readonly redisUrlIsPrivate: boolean;
  readonly prefixIsDefault: boolean;
};

/**
 * Commands to paste into a second terminal. The settings come first, exported, so that whatever those commands
 * advise to run next works there as it is printed.
 */
export function whatNextLines(stage: Stage, around: Surroundings, style: Terminal["style"]): string[] {
  const { queue, prefix } = stage.place;
  const exported = [
    around.redisUrlIsPrivate ? "" : `REDIS_URL=${around.redisUrl}`,
    `ANVIL_QUEUE=${queue}`,
    around.prefixIsDefault ? "" : `ANVIL_PREFIX='${prefix}'`,
    around.secretIsMadeUp ? `WEBHOOK_SECRET=${stage.secret}` : "",
    stage.port === 3000 ? "" : `PORT=${stage.port}`,
  ].filter((setting) => setting !== "");
  const kept = [
    ...(around.redisUrlIsPrivate ? ["REDIS_URL"] : []),
    ...(around.secretIsMadeUp ? [] : ["WEBHOOK_SECRET"]),
  ];
  const comment = (text: string) => style.dim(`   # ${text}`);
  return [
    style.bold("It stays up. In a second terminal, in this folder:"),
    "",
    comment(
      `so that it finds this demo${kept.length === 0 ? "" : `; set your ${kept.join(" and ")} there too`}`,
    ),
    ...exported.map((setting) => `   export ${setting}`),
    "",
    comment("send a signed event"),
    "   npx anvil send",
    "",
    comment("the same by hand; sent twice, the second answer says replayed: true"),
    `   body='{"type":"order.created","data":{"orderId":1002}}'`,
    `   sign=$(printf %s "$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r)`,
    `   curl ${stage.url}/webhooks -H 'content-type: application/json' \\`,
    `     -H "x-signature: \${sign%% *}" -d "$body"`,
    "",
    comment("an event that always fails; two seconds later it is a dead letter"),
    `   npx anvil send --type ${FAILING_TYPE}`,
    "   npx anvil dead list",
    "",
    "Ctrl-C ends it, and removes what it stored. What arrives until then:",
  ];
}
