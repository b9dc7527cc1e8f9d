import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEFECTS, defectProblems } from "./defects.ts";
import { repository, root } from "./repository.ts";

describe("docs/what-can-go-wrong.md", () => {
  it("has a row for each known defect, with a test that bears its id or the reason why it can't apply", () => {
    const page = readFileSync(new URL("docs/what-can-go-wrong.md", root), "utf8");
    expect(defectProblems(page, repository())).toEqual([]);
  });
});

describe("its check", () => {
  const files = [
    {
      path: "test/defects/all.test.ts",
      text: DEFECTS.map((id) => `it("${id} is shown", () => {});`).join("\n"),
    },
    { path: "test/defects/comment.test.ts", text: '// it("H-03 was shown once")\n * "H-03"' },
    { path: "test/deploy/one.contract.ts", text: "it(`H-03 in a contract`, () => {});" },
    { path: "test/deploy/rig.ts", text: 'const name = "H-04";' },
  ];
  const row = (id: string, shown = "`all.test.ts`") => `| ${id} | what | then | ${shown} |`;
  const page = (change: (id: string) => string) => DEFECTS.map(change).join("\n");
  const with3 = (shown: string) => page((id) => (id === "H-03" ? row(id, shown) : row(id)));

  it("accepts a test by name, by path, by folder, and a reason", () => {
    for (const shown of [
      "`all.test.ts`",
      "`test/deploy/one.contract.ts`",
      "`test/deploy`, `all.test.ts`",
      "can't apply: there is no such thing",
    ]) {
      expect(defectProblems(with3(shown), files)).toEqual([]);
    }
  });

  it.each([
    ["a missing row", page((id) => (id === "H-03" ? "" : row(id))), "H-03: has no row"],
    ["a row too many", `${page((id) => row(id))}\n${row("H-03")}`, "H-03: has 2 rows"],
    ["an unknown id", `${page((id) => row(id))}\n${row("H-58")}`, "H-58: no such defect"],
    ["neither test nor reason", with3(""), "H-03: names neither a test nor why it can't apply"],
    ["a bare can't apply", with3("can't apply:"), "H-03: names neither a test nor why it can't apply"],
    ["a file that is gone", with3("`gone.test.ts`"), "H-03: no test in gone.test.ts has the id in its title"],
    [
      "an id in comments",
      with3("`comment.test.ts`"),
      "H-03: no test in comment.test.ts has the id in its title",
    ],
    [
      "no test file",
      page((id) => row(id, id === "H-04" ? "`test/deploy/rig.ts`" : "`all.test.ts`")),
      "H-04: ",
    ],
  ])("refuses %s", (_, text, problem) => {
    const problems = defectProblems(text, files);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });
});
