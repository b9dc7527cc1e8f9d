const LEAST_WIDTH = 20;

/** A text in lines of at most `width` characters, broken at spaces; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > Math.max(LEAST_WIDTH, width)) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
