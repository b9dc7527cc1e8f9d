import { describe, expect, it } from "vitest";
import { AnvilError, ConfigError } from "../contract/errors.ts";
import { type Handler, type HandlerMap, handlerFinder } from "./handlers.ts";

/** Handlers that can be told apart. */
const handler = (name: string): Handler => Object.assign(() => {}, { called: name });

function find(map: HandlerMap, source: string, type?: string): string {
  const found = handlerFinder(map)({ source, type });
  return (found as unknown as { called: string }).called;
}

describe("handlerFinder", () => {
  it("takes one function for everything", () => {
    const only = handler("only");
    const findHandler = handlerFinder(only);
    expect(findHandler({ source: "any", type: undefined })).toBe(only);
    expect(findHandler({ source: "stripe", type: "invoice.paid" })).toBe(only);
  });

  const map: HandlerMap = {
    stripe: {
      "invoice.paid": handler("exact"),
      "invoice.*": handler("invoice.*"),
      "invoice.payment.*": handler("invoice.payment.*"),
      "*": handler("any type"),
    },
    github: { push: handler("push") },
    shop: handler("shop"),
    "*": { "invoice.paid": handler("paid anywhere"), "*": handler("rest") },
  };

  it.each([
    ["stripe", "invoice.paid", "exact"],
    ["stripe", "invoice.created", "invoice.*"],
    ["stripe", "invoice.payment.failed", "invoice.payment.*"],
    ["stripe", "invoice.payment.failed.twice", "invoice.payment.*"],
    ["stripe", "invoice.payment", "invoice.*"],
    ["stripe", "invoice.", "invoice.*"],
    ["stripe", "invoice", "any type"],
    ["stripe", "invoices.paid", "any type"],
    ["stripe", "Invoice.paid", "any type"],
    ["stripe", "", "any type"],
    ["stripe", undefined, "any type"],
    ["github", "push", "push"],
    ["github", "push.extra", "rest"],
    ["github", undefined, "rest"],
    ["shop", "invoice.paid", "shop"],
    ["shop", undefined, "shop"],
    ["unknown", "invoice.paid", "paid anywhere"],
    ["unknown", "other", "rest"],
  ])("%s/%s runs %s: the type, the longest prefix, *, then the source *", (source, type, name) => {
    expect(find(map, source, type)).toBe(name);
  });

  it.each([
    ["orders/create", "orders/*"],
    ["orders", "rest"],
    ["repo:push", "repo:*"],
    ["zen:event-type:ticket.created", "zen:event-type:*"],
    ["jira:issue_created", "jira:issue_created"],
    ["/deploy now", "/deploy now"],
    ["ordersX", "rest"],
  ])("%s, as some providers write types, runs %s", (type, name) => {
    const names = ["orders/*", "repo:*", "zen:event-type:*", "jira:issue_created", "/deploy now"];
    const handlers = Object.fromEntries(names.map((each) => [each, handler(each)]));
    expect(find({ s: { ...handlers, "*": handler("rest") } }, "s", type)).toBe(name);
  });

  it("goes by the length of a prefix and not by the order of the map", () => {
    const handlers = { "a.*": handler("short"), "a.b.*": handler("long") };
    expect(find({ s: handlers }, "s", "a.b.c")).toBe("long");
    expect(find({ s: Object.fromEntries(Object.entries(handlers).reverse()) }, "s", "a.b.c")).toBe("long");
  });

  it("takes one function for the rest of the sources", () => {
    expect(find({ a: handler("a"), "*": handler("rest") }, "b", "x")).toBe("rest");
  });

  it.each([
    [
      { github: { push: handler("push") } },
      "github",
      "issues.opened",
      "No handler for github/issues.opened;",
    ],
    [{ github: { push: handler("push") } }, "github", undefined, "No handler for github;"],
    [{ github: handler("push") }, "stripe", "x", "No handler for stripe/x;"],
    [{ github: {} }, "github", "push", "No handler for github/push;"],
  ])("has none, with code no_handler: %#", (handlers, source, type, message) => {
    const search = () => find(handlers, source, type);
    expect(search).toThrow(AnvilError);
    expect(search).toThrow(message);
    expect(search).toThrow(expect.objectContaining({ code: "no_handler" }));
  });

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "doesn't take the property %s of every object for a handler",
    (name) => {
      const none = { github: { push: handler("push") } };
      expect(() => find(none, name, "push")).toThrow("No handler");
      expect(() => find(none, "github", name)).toThrow("No handler");
    },
  );

  it("finds a handler in no time for a type of ten thousand dots, which a sender can send", () => {
    const start = performance.now();
    expect(find(map, "stripe", `invoice${".a".repeat(10_000)}`)).toBe("invoice.*");
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe("a map of handlers that can't be used", () => {
  const problems = (handlers: unknown): readonly string[] => {
    try {
      handlerFinder(handlers as HandlerMap);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  };

  it.each([undefined, null, 5, "text", [], [() => {}]])("is refused when it is %s", (handlers) => {
    expect(problems(handlers)).toEqual([
      "handlers: a function, or an object of functions by source and type",
    ]);
  });

  it("is refused when it is empty, since it would bury everything", () => {
    expect(problems({})).toEqual(["handlers: is empty; name at least one source"]);
  });

  it("is refused with every entry that is no function", () => {
    const handlers = { a: () => {}, b: 5, c: null, d: { x: () => {}, y: "text", "z.*": undefined } };
    expect(problems(handlers)).toEqual([
      "handlers.b: a function, or an object of functions by type",
      "handlers.c: a function, or an object of functions by type",
      'handlers.d["y"]: is no function',
      'handlers.d["z.*"]: is no function',
    ]);
  });
});
