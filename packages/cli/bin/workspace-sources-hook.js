// Loaded twice on Node 20: by us, and by Node in its thread for hooks.

/**
 * @template Context, Resolved
 * @param {string} specifier
 * @param {Context & { conditions: string[] }} context
 * @param {(specifier: string, context: Context & { conditions: string[] }) => Resolved} nextResolve
 */
export function resolve(specifier, context, nextResolve) {
  return nextResolve(specifier, { ...context, conditions: ["anvil-source", ...context.conditions] });
}
