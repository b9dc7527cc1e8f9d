import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, it } from "vitest";
import { root } from "./sst-platform.ts";

const require = createRequire(import.meta.url);
/** It has no types of its own. */
const { run: lint } = require("dockerfilelint") as {
  run(folder: string, text: string): { rule: string; line: number; title: string }[];
};

const text = readFileSync(join(root, "workers/Dockerfile"), "utf8");

function findings(dockerfile: string): string[] {
  const lines = dockerfile.split("\n");
  return [
    ...validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    ...lint(root, dockerfile)
      .filter(({ rule, line }) => !isMistaken(rule, lines[line - 1] ?? ""))
      .map(({ line, title }) => `${line}: ${title}`),
  ];
}

/** dockerfilelint looks for a tag without looking into the ARG, and doesn't know HEALTHCHECK's --start-period. */
function isMistaken(rule: string, line: string): boolean {
  return (
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as the Dockerfile writes it
    (rule === "missing_tag" && line.includes("${NODE_IMAGE}")) ||
    (rule === "invalid_format" && line.startsWith("HEALTHCHECK") && line.includes("--start-period="))
  );
}

it("pleases two linters", () => {
  expect(findings(text)).toEqual([]);
});

it.each([
  ["a base that may be anything", text.replace(/^FROM \S+ AS worker/m, "FROM node AS worker"), /Tag/],
  ["an instruction that there isn't", `${text}USR node\n`, /Unknown instruction|Invalid Command/i],
  ["a second CMD", `${text}CMD ["node", "other.mjs"]\n`, /CMD/],
  ["a port that there isn't", text.replace("EXPOSE 8080", "EXPOSE 80800"), /Port/],
])("would hear of %s", (_, broken, finding) => {
  expect(broken).not.toBe(text);
  expect(findings(broken).join("\n")).toMatch(finding);
});
