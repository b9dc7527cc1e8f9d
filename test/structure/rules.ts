import { posix } from "node:path";

/** A file of the repository: its path from the root, with forward slashes, and its text. */
export type SourceFile = { readonly path: string; readonly text: string };

/** One rule of the architecture: which files it holds for, and what of a file breaks it. */
type Rule = {
  readonly holdsFor: (path: string) => boolean;
  readonly broken: (file: SourceFile) => readonly string[];
};

const LIBRARY = "packages/anvil/src/";

/**
 * What each folder of the library may import: folders of the library, packages, and built-in modules.
 * Everything else is an arrow in the wrong direction. A package's name covers what lies under it.
 */
const arrows: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  contract: ["contract/", "node:crypto"],
  // The last two for one pure function each: a checksum, and the escaping of a query.
  signatures: ["signatures/", "contract/", "valibot", "node:crypto", "node:zlib", "node:querystring"],
  queue: [
    "queue/",
    "contract/",
    "ioredis",
    "@upstash/redis",
    "msgpackr",
    // What BullMQ publishes of its Lua, and nothing that opens a connection.
    /^bullmq\/dist\/[a-z]+\/scripts\//,
    "node:crypto",
    "node:tls",
  ],
  ingress: ["ingress/", "signatures/", "queue/", "contract/", "hono", /^node:/],
  replay: ["replay/", "queue/", "contract/", /^node:/],
  node: ["node/", /^node:/, "@hono/node-server"],
  worker: ["worker/", "queue/", "contract/", /^bullmq$/, /^node:/],
};

const rules: readonly Rule[] = [
  {
    holdsFor: (path) => isSource(path) && folderOf(path) !== undefined,
    broken({ path, text }) {
      const folder = folderOf(path) as string;
      const allowed = arrows[folder];
      if (!allowed)
        return [
          `${folder}/ is a folder that no rule knows; say in test/structure/rules.ts what it may import`,
        ];
      return importsOf(text)
        .map((specifier) => target(path, specifier))
        .filter((name) => !allowed.some((entry) => covers(entry, name)))
        .map((name) => `${folder}/ must not import ${name}`);
    },
  },
  {
    // The functions are small and start cold: the package's root would bring the worker and all of BullMQ along.
    holdsFor: (path) => isSource(path) && path.startsWith("functions/"),
    broken: ({ text }) =>
      importsOf(text)
        .filter((specifier) => /^(webhook-anvil(\/worker)?|bullmq)$/.test(specifier))
        .map((specifier) => `a function must not import ${specifier}`),
  },
  {
    holdsFor: (path) => isSource(path) && path.startsWith(LIBRARY),
    broken: ({ text }) =>
      found(codeOf(text), /\bprocess\b(?!-)/g, "the library takes the environment and never reads it").concat(
        importsOf(text).includes("node:process") ? ["the library must not import node:process"] : [],
      ),
  },
  {
    // sst.config.ts is the entry of a deploy: SST hands it no environment, so it passes its own on.
    holdsFor: (path) =>
      isSource(path) &&
      !/^(functions\/|workers\/main\.ts$|sst\.config\.ts$|packages\/(cli|testkit|bootstrap)\/)/.test(path),
    broken: ({ text }) =>
      found(codeOf(text), /\bprocess\s*(\.\s*env\b|\[)|=\s*process\b/g, "only the entries read process.env"),
  },
  {
    holdsFor: (path) => isSource(path) && /^packages\/anvil\/src\/(contract|signatures)\//.test(path),
    broken: ({ text }) =>
      found(
        codeOf(text),
        /\bDate\s*\.\s*now\b|\bperformance\b|\bhrtime\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<!new\s+)\bDate\s*\(/g,
        "contract and signatures take the time and never read the clock",
      ),
  },
  {
    holdsFor: (path) => /\.(ts|tsx|js|mjs|cjs)$/.test(path),
    broken({ text }) {
      const lines = text.replace(/\n$/, "").split("\n").length;
      return lines > 500 ? [`has ${lines} lines; look for the second idea from 500`] : [];
    },
  },
  {
    holdsFor: () => true,
    broken: ({ path }) =>
      posix
        .dirname(path)
        .split("/")
        .filter((folder) => /^(utils?|helpers?|types?)$/i.test(folder))
        .map((folder) => `folders are capabilities, never kinds: ${folder}/`),
  },
];

/** Everything that breaks a rule, each as `path: what`. */
export function violations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    rules
      .filter((rule) => rule.holdsFor(file.path))
      .flatMap((rule) => rule.broken(file))
      .map((what) => `${file.path}: ${what}`),
  );
}

/** The modules that a text imports, exports from, or requires; for their types alone too. */
export function importsOf(text: string): string[] {
  const code = withoutComments(text);
  const statements =
    /(?:^|[;}])\s*(?:import\s*|(?:import|export)\b[^"';]*?\bfrom\s*)["']([^"']+)["']|\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/gm;
  return [...code.matchAll(statements)].map((match) => (match[1] ?? match[2]) as string);
}

/** TypeScript and JavaScript that ships; tests, what they share, and fixtures are free. */
function isSource(path: string): boolean {
  return (
    /\.(ts|tsx|js|mjs|cjs)$/.test(path) &&
    !/\.(test|contract)\.[a-z]+$|(^|\/)fixtures(\.ts$|\/)|^test\//.test(path)
  );
}

/** The library's folder that a file lies in: `queue` for packages/anvil/src/queue/bury.ts. */
function folderOf(path: string): string | undefined {
  return path.startsWith(LIBRARY) ? /^[^/]+(?=\/)/.exec(path.slice(LIBRARY.length))?.[0] : undefined;
}

/** What an import leads to: a path inside the library without its beginning, any other path, or a module's name. */
function target(path: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const resolved = posix.join(posix.dirname(path), specifier);
  return resolved.startsWith(LIBRARY) ? resolved.slice(LIBRARY.length) : resolved;
}

function covers(entry: string | RegExp, name: string): boolean {
  if (typeof entry !== "string") return entry.test(name);
  if (entry.endsWith("/")) return name.startsWith(entry);
  return name === entry || name.startsWith(`${entry}/`);
}

function found(code: string, pattern: RegExp, what: string): string[] {
  return [...code.matchAll(pattern)].map((match) => `${what}, but: ${match[0]}`);
}

const COMMENTS_AND_TEXTS = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g;

function withoutComments(text: string): string {
  return text.replace(COMMENTS_AND_TEXTS, (match) => (match.startsWith("/") ? " " : match));
}

/** Without comments and quoted texts; templates stay, since they hold code. */
function codeOf(text: string): string {
  return text.replace(COMMENTS_AND_TEXTS, (match) => (match.startsWith("/") ? " " : '""'));
}
