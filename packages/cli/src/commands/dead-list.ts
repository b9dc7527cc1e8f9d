import { type DeadLetterSummary, listDead } from "webhook-anvil/queue";
import type { Context } from "../context.ts";
import { oneLine } from "../output/plain-text.ts";
import { tableLines } from "../output/table.ts";
import { ago } from "../output/time.ts";
import { withRedis } from "../redis-session.ts";
import { countSetting } from "../settings/numbers.ts";
import { type Place, type PlaceOptions, queuePlace } from "../settings/queue-place.ts";

export type DeadListOptions = PlaceOptions & {
  readonly limit?: string;
  readonly offset?: string;
  readonly json?: boolean;
};

/** Dead letters, the newest first. */
export async function deadList(context: Context, options: DeadListOptions): Promise<number> {
  const { env, stdout } = context;
  const page = {
    limit: countSetting(options.limit, env, { option: "--limit", least: 1, fallback: 20 }),
    offset: countSetting(options.offset, env, { option: "--offset", least: 0, fallback: 0 }),
  };
  const place = await queuePlace(options, context);
  const { total, letters } = await withRedis(env, (redis) =>
    redis.run((client) => listDead(client, place, page)),
  );
  if (options.json) stdout.json({ total, ...page, letters });
  else if (total === 0) {
    stdout.line(`No dead letters in queue ${place.queue}: no event has failed for good and waits for you.`);
  } else if (letters.length === 0)
    stdout.line(`There are ${total} dead letters, none past the first ${page.offset}.`);
  else show(context, place, page, total, letters);
  return 0;
}

function show(
  { stdout }: Context,
  place: Place,
  page: { readonly limit: number; readonly offset: number },
  total: number,
  letters: readonly DeadLetterSummary[],
): void {
  const { style, width } = stdout;
  const now = Date.now();
  const head = ["ID", "SOURCE/TYPE", "REASON", "RUNS", "WHEN"];
  const rows = letters.map(({ jobId, name, failureContext: { reason, attempts, failedAt } }) => [
    jobId,
    oneLine(name),
    reason,
    String(attempts),
    ago(failedAt, now),
  ]);
  const others = [0, 2, 3, 4].map((column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] as string).length)),
  );
  const left = width - others.reduce((sum, length) => sum + length + 2, 0);
  const columns = [{}, { maxWidth: Math.max(left, 12) }, {}, { align: "right" as const }, {}];
  const [headLine = "", ...lines] = tableLines(columns, [head, ...rows]);

  stdout.line(style.dim(headLine));
  for (const [index, line] of lines.entries()) {
    stdout.line(line);
    // Under its row, where there is room for it.
    const error = oneLine(letters[index]?.failureContext.lastError ?? "") || "(no message)";
    const fits = [...error].length <= width - 2;
    stdout.line(`  ${style.red(fits ? error : `${[...error].slice(0, width - 3).join("")}…`)}`);
  }
  stdout.line();
  if (letters.length < total) {
    const last = page.offset + letters.length;
    stdout.line(`${page.offset + 1} to ${last} of ${total}; --offset ${last} has the next ones.`);
  }
  const id = letters[0]?.jobId ?? "ID";
  stdout.line(`Look at one:  npx anvil dead show ${id}${place.asOptions}`);
  stdout.line(`Run it again: npx anvil replay ${id}${place.asOptions}`);
}
