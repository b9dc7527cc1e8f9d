import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "./fixtures/temporary.js";
import { closingLine, countsOf, readReport, skippedLines } from "./vitest-report.js";

it("counts tests, and files that failed outside their tests, and names what was skipped", () => {
  const root = temporaryFolder();
  const path = join(root, "report.json");
  const testResults = [
    {
      name: join(root, "a.test.ts"),
      status: "failed",
      assertionResults: [
        { fullName: "a passes", status: "passed" },
        { fullName: "a fails", status: "failed" },
        { fullName: "a waits", status: "skipped" },
        { fullName: "a comes", status: "todo" },
      ],
    },
    { name: join(root, "b.test.ts"), status: "failed", assertionResults: [] },
    {
      name: join(root, "c.test.ts"),
      status: "passed",
      assertionResults: [{ fullName: "c", status: "passed" }],
    },
  ];
  writeFileSync(path, JSON.stringify({ testResults }));

  const on20 = readReport(path, { root, node: "20.20.2", exitCode: 1 });
  expect(on20.failedNames).toEqual(["a.test.ts > a fails", "b.test.ts (the file, not one of its tests)"]);
  const on24 = { ...on20, node: "24.1.0", skippedNames: ["a.test.ts > a waits"] };
  expect(closingLine([on20, on24])).toBe(
    "2 passed, 2 failed, 2 skipped on node 20.20.2; 2 passed, 2 failed, 1 skipped on node 24.1.0",
  );
  expect(countsOf([on20, on24])).toBe("4 passed, 4 failed, 3 skipped");
  expect(skippedLines([on20, on24])).toEqual([
    "skipped: a.test.ts > a waits (node 20.20.2, 24.1.0)",
    "skipped: a.test.ts > a comes (node 20.20.2)",
  ]);
});
