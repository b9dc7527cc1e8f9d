import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { providers } from "webhook-anvil/signatures";
import { providersPage } from "./providers-page.ts";

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

test("docs/providers.md is what the rows say; if not, npm run docs:providers", () => {
  const page = text("docs/providers.md");
  expect(page).toBe(providersPage([...providers.values()]));
  for (const name of providers.keys()) expect(page).toContain(`\n| [\`${name}\`](https://`);
});

test("the README counts them right", () => {
  expect(text("README.md")).toContain(`[All ${providers.size - 1} of them](docs/providers.md)`);
});
