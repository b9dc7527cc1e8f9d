import { parseArgs } from "node:util";
import { asText, broken, type RunSettings } from "./report.ts";
import { runChaos } from "./run.ts";

// npm run chaos: kills the whole chain, over and over, and counts what was lost or doubled.

const USAGE = `npm run chaos -- [--events 2000] [--kills 100] [--seed N] [--rate 40] [--json]

  --events  how many webhooks are sent, beside their duplicates and forgeries
  --kills   how many processes (or the Redis) are killed meanwhile; other faults come on top, one for two kills
  --seed    repeats the faults and events of another run; random by default, and printed
  --rate    new events in a second, at most
  --json    the report as JSON on stdout

Exit code 1: something was lost, doubled or altered, or an answer took longer than 3 s. 2: wrong usage.`;

const { json, ...settings } = readSettings();
const say = (text: string) => console.error(text);
try {
  say(
    `seed ${settings.seed}: ${settings.events} events, ${settings.kills} kills, ${settings.rate} events a second`,
  );
  const report = await runChaos(settings, say);
  end(json ? JSON.stringify(report, null, 2) : asText(report), broken(report).length > 0 ? 1 : 0);
} catch (error) {
  console.error(error);
  process.exit(1);
}

/** All is stopped and removed by now; a channel to a process that was killed may stay, and would keep this one up. */
function end(text: string, code: number): void {
  process.stdout.write(`${text}\n`, () => process.exit(code));
}

function readSettings(): RunSettings & { json: boolean } {
  const problems: string[] = [];
  let values: Record<string, string | boolean | undefined> = {};
  const number = (name: string, fallback: number, least: number, most: number): number => {
    const text = values[name];
    if (text === undefined) return fallback;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    problems.push(`--${name}: a whole number from ${least} to ${most}`);
    return fallback;
  };
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    ({ values } = parseArgs({
      options: { events: text, kills: text, seed: text, rate: text, json: flag, help: flag },
    }));
  } catch (error) {
    problems.push((error as Error).message);
  }
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const read = {
    events: number("events", 2_000, 1, 1_000_000),
    kills: number("kills", 100, 0, 100_000),
    seed: number("seed", Math.floor(Math.random() * 1_000_000), 0, 0x7fffffff),
    rate: number("rate", 40, 1, 1_000),
    json: values.json === true,
  };
  if (problems.length > 0) {
    console.error(`${problems.join("\n")}\n\n${USAGE}`);
    process.exit(2);
  }
  return read;
}
