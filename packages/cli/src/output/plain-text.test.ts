import { expect, test } from "vitest";
import { cut, oneLine, plainText } from "./plain-text.ts";

test("what moves a cursor, colours or reorders text is taken off or shown as an escape", () => {
  expect(plainText("\u001b[31mred\u001b[0m and \u001b]0;title\u0007done")).toBe("red and done");
  expect(plainText("a\u0000b\u0008c\u202ed\u2028e\ufefff")).toBe(
    "a\\u{0}b\\u{8}c\\u{202e}d\\u{2028}e\\u{feff}f",
  );
  expect(plainText("kept:\n\ttab, é, 型, 😀\r\n")).toBe("kept:\n\ttab, é, 型, 😀\n");
});

test("one line is one line", () => {
  expect(oneLine("  first\r\n   second\tthird\u2028fourth ")).toBe("first second third fourth");
});

test("a cut says how much is missing, and splits no character", () => {
  expect(cut("abc", 3)).toBe("abc");
  expect(cut("😀😀😀", 2)).toBe("😀😀… (1 characters more)");
});
