import { createRequire } from "node:module";
import { Command } from "commander";
import type { Context } from "./context.ts";
import { oneLine } from "./output/plain-text.ts";

type Action<Args extends unknown[]> = (context: Context, ...args: Args) => Promise<number>;

/**
 * The commands, their arguments and their help. What a command does is imported when it runs, so that
 * `anvil --help` doesn't load a Redis client, let alone BullMQ.
 * @param ended told the exit code of the command that ran
 */
export function createProgram(context: Context, ended: (exitCode: number) => void): Command {
  const run =
    <Args extends unknown[]>(load: () => Promise<Action<Args>>) =>
    async (...args: Args) => {
      const action = await load();
      ended(await action(context, ...args));
    };

  const program = new Command("anvil")
    .description("Receive webhooks, run handlers on them, look after those that failed.")
    .version(version(), "-V, --version")
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => context.stdout.line(text.trimEnd()),
      writeErr: (text) => context.stderr.line(text.trimEnd()),
      getOutHelpWidth: () => context.stdout.width,
      getErrHelpWidth: () => context.stderr.width,
    })
    .addHelpCommand(
      new Command("help").argument("[command]").summary("show what a command takes").helpGroup("Help:"),
    )
    .addHelpText("after", ENVIRONMENT);

  program.commandsGroup("Receive and handle:");
  atQueue(program.command("ingress"))
    .summary("receive webhooks: verify, store, answer 202")
    .description("Receives webhooks on PORT: verifies each one, stores it once, answers 202.")
    .option("--drain <time>", "for requests under way when it is stopped, such as 10s (ANVIL_DRAIN)")
    .action(run(async () => (await import("./commands/ingress.ts")).ingress));
  atQueue(program.command("worker"))
    .summary("run handlers on what was received")
    .description("Runs handlers on stored events: retries, dead letters, a drain when it is stopped.")
    .option("--handlers <file>", "its default export is a handler, or a map of handlers by source and type")
    .option("--concurrency <n>", "jobs at once; default 10 (ANVIL_CONCURRENCY)")
    .option("--drain <time>", "for running handlers when it is stopped; default 25s (ANVIL_DRAIN)")
    .action(run(async () => (await import("./commands/worker.ts")).worker));

  program.commandsGroup("Try it:");
  program
    .command("demo")
    .summary("see the whole chain at work, then send it your own events")
    .description("Starts an ingress and a worker, sends signed events through them and tells what happens.")
    .option("--prefix <prefix>", "in front of every Redis key, in braces (ANVIL_PREFIX)")
    .action(run(async () => (await import("./commands/demo.ts")).demo));
  program
    .command("send")
    .summary("send a signed test event")
    .description("Signs a test event as the source's provider would, and posts it.")
    .argument("[source]", "a source of the configuration", "default")
    .option("--url <url>", "where to; default http://127.0.0.1:$PORT and the source's path")
    .option("--file <file>", "send the bytes of this file; - reads standard input")
    .option("--type <type>", "the event's type, such as invoice.paid")
    .option("--times <n>", "deliver the same event so many times; default 1")
    .action(run(async () => (await import("./commands/send.ts")).send));
  program
    .command("verify")
    .summary("find out why a captured delivery is refused")
    .description(
      "Verifies a captured delivery and says which check fails, why, and what would make it pass. Prints no secret and no body.",
    )
    .argument("[provider]", "such as stripe: whose delivery it is")
    .option(
      "--request <file>",
      "raw HTTP, a curl --trace, an event of a function URL, or JSON; - reads standard input",
    )
    .option("--source <name>", "whose secrets and url; default: the only source of the provider")
    .option(
      "--secret-env <name>",
      "the variable that holds the secret, instead of a source; never the secret itself",
    )
    .option(
      "--url <url>",
      "the public URL, for providers that sign it; default the source's url, else the request's own",
    )
    .option("--now <seconds>", "as of when, in seconds since 1970; default now")
    .option("--vectors <file>", "instead: hold a file of signed requests against the verdicts in it")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/verify.ts")).verify));

  program.commandsGroup("Look after it:");
  const dead = program
    .command("dead")
    .helpCommand(false)
    .summary("list and show dead letters: events that failed for good")
    .description("Dead letters: events whose handler failed for good. They wait for a person.");
  atQueue(dead.command("list"))
    .description("Lists dead letters, the newest first.")
    .option("--limit <n>", "so many of them; default 20")
    .option("--offset <n>", "past the first so many; default 0")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/dead-list.ts")).deadList));
  atQueue(dead.command("show"))
    .description("Shows one dead letter: why it failed, and what was delivered.")
    .argument("<id>", "the job's id, as in the 202")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/dead-show.ts")).deadShow));
  atQueue(program.command("replay"))
    .summary("run dead letters again")
    .description("Puts dead letters back into the queue, with their full retry schedule.")
    .argument("<id...>", "the job's id, as in the 202; several, too")
    .option("--by <name>", "who replays, for the record; default the user of this machine")
    .option("--reason <text>", "why, for the record: anvil dead show tells it if the event fails again")
    .option("--function <name>", "have the deployed replay function do it (AWS_REGION, AWS_PROFILE)")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/replay.ts")).replay));
  atQueue(program.command("stats"))
    .summary("how many jobs wait, run, are done or dead")
    .description("Counts the jobs of the queue by where they are.")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/stats.ts")).stats));
  atQueue(program.command("doctor"))
    .summary("find what is wrong with Redis, the configuration or the queue")
    .description("Looks at Redis, the configuration and the queue: what is wrong, and what to do about it.")
    .option("--json", "for programs")
    .action(run(async () => (await import("./commands/doctor.ts")).doctor));
  for (const command of [program, ...program.commands, ...dead.commands]) tellUsage(command);
  return program;
}

/** Commander's "error: …\n(Did you mean …?)" as a sentence, with what to write instead. */
function tellUsage(command: Command): void {
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  command.configureOutput({
    outputError: (text, write) => {
      const problem = oneLine(text.replace(/^error: /, "")).replace(/\.$/, "");
      const usage = [...names, command.usage()].join(" ");
      write(`anvil: ${problem}; usage: ${usage}, and ${names.join(" ")} --help says more`);
    },
  });
}

function atQueue(command: Command): Command {
  return command
    .option("--queue <name>", "which queue; default webhooks (ANVIL_QUEUE)")
    .option("--prefix <prefix>", "in front of every Redis key; default {anvil} (ANVIL_PREFIX)");
}

function version(): string {
  return createRequire(import.meta.url)("../package.json").version;
}

const ENVIRONMENT = `
Environment:
  REDIS_URL                 default redis://127.0.0.1:6379; rediss:// for TLS
  WEBHOOK_SECRET            of the default source; WEBHOOK_SECRET_PREVIOUS while it is being rotated
  ANVIL_CONFIG              the configuration file; default anvil.config.ts of this folder
  ANVIL_ENCRYPTION_KEY      encrypts what events hold, where there is no configuration file;
                            ANVIL_ENCRYPTION_KEY_PREVIOUS while it is being rotated
  ANVIL_RETRY_SCHEDULE      delays before the retries; default 1s,5s,30s,5m
  ANVIL_DURABILITY          what a 202 of ingress waits for: memory (default), replica or disk
  ANVIL_QUEUE, ANVIL_PREFIX as --queue and --prefix
  PORT, HOST                where ingress listens; default 3000 on 0.0.0.0
  ANVIL_DEBUG               1 shows where an error comes from

Exit codes: 0 done, 1 failed, 2 wrong usage.`;
