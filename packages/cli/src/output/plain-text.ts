import { stripVTControlCharacters } from "node:util";

// Control, format (those that reorder what stands around them are among these), line and paragraph separators:
// text from a sender or from an error must not move a terminal's cursor or hide a part of itself.
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text that came from outside, safe to print. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replace(/\r\n/g, "\n")).replace(
    UNPRINTABLE,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The same on one line. */
export function oneLine(text: string): string {
  return plainText(text.trim().replace(/\s+/g, " "));
}

/** At most `length` characters, and how many are missing. */
export function cut(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  return `${characters.slice(0, length).join("")}… (${characters.length - length} characters more)`;
}
