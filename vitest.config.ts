import { fileURLToPath } from "node:url";
import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

const testkit = (file: string): string =>
  fileURLToPath(new URL(`packages/testkit/src/${file}`, import.meta.url));

const DEPLOY = "test/deploy/**/*.test.ts";
/** Real processes and servers that are started, killed, stopped and attacked: minutes of waiting. */
const PROCESSES = [
  "packages/cli/**/*.test.ts",
  "test/{chain,faults,boundaries,defects,security}/**/*.test.ts",
];
const CHAOS = "test/chaos/short-run.test.ts";

export default defineConfig({
  // The workspace's packages are read from their sources, so nothing has to be built first.
  resolve: { conditions: ["anvil-source", ...defaultClientConditions] },
  ssr: { resolve: { conditions: ["anvil-source", ...defaultServerConditions] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: [
            "packages/**/*.test.{ts,js}",
            "functions/**/*.test.ts",
            "workers/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/dist/**", DEPLOY, ...PROCESSES, CHAOS],
        },
      },
      { extends: true, test: { name: "deploy", include: [DEPLOY] } },
      { extends: true, test: { name: "processes", include: PROCESSES } },
      {
        extends: true,
        // After all others and by itself: it measures how long answers take while everything is killed.
        test: { name: "chaos", include: [CHAOS], sequence: { groupOrder: 1 } },
      },
    ],
    // A process for each file: tests start servers, trap signals and look for what was left open.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    globalSetup: [testkit("shared-redis.ts")],
    setupFiles: [testkit("leaks.ts")],
  },
});
