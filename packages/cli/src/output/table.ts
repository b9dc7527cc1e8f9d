import CliTable from "cli-table3";

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

export type Column = {
  /** Columns of numbers line up on the right. */
  readonly align?: "left" | "right";
  /** Longer cells are cut, with an ellipsis. */
  readonly maxWidth?: number;
};

/** Rows in columns without borders, one line for each row. Cells must be single lines. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const table = new CliTable({
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    colAligns: columns.map(({ align }) => align ?? "left"),
    colWidths: columns.map(({ maxWidth }, index) => {
      const longest = Math.max(...rows.map((row) => (row[index] ?? "").length));
      return maxWidth !== undefined && longest > maxWidth ? maxWidth : null;
    }),
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}
