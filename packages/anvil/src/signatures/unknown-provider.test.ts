import { expect, it } from "vitest";
import { providers } from "./providers/index.ts";
import { unknownProvider } from "./unknown-provider.ts";

it.each([
  ["strip", "stripe"],
  ["Stripe", "stripe"],
  ["githib", "github or gitlab"],
  ["lemon-squeezy", "lemonsqueezy"],
  ["sns", "aws-sns"],
  ["graph", "microsoft-graph"],
  ["coinbase", "coinbase-commerce"],
  ["whatsapp", "meta"],
  ["twitter", "x"],
])("for %s it asks whether %s is meant", (name, meant) => {
  expect(unknownProvider(name)).toMatch(
    new RegExp(`^unknown provider; did you mean ${meant}( or [\\w-]+){0,2}\\? docs/`),
  );
});

it.each([
  "acme",
  "",
  "constructor",
  "whsec_made_up_secret_in_the_wrong_place",
  "s".repeat(10_000),
  5,
  null,
  undefined,
])("for %s it names nobody, and never the value", (name) => {
  expect(unknownProvider(name)).toBe(
    "unknown provider; docs/providers.md lists them all, and docs/add-a-provider.md adds one",
  );
});

it("names at most three, whatever is asked for", () => {
  for (const name of [...providers.keys()].filter((each) => each.length > 2)) {
    const [, named = ""] = /did you mean (.*)\?/.exec(unknownProvider(`${name}x`)) ?? [];
    const meant = named.split(" or ");
    expect(meant.length).toBeLessThanOrEqual(3);
    expect(meant).toContain(name);
  }
});
