import * as nodeModule from "node:module";
import { resolve } from "./workspace-sources-hook.js";

/**
 * From here on `import "webhook-anvil"` reads packages/anvil/src, as `node --conditions anvil-source` would do:
 * a flag can't be given to a file that npm links as a command.
 */
export function readWorkspaceSources() {
  // In this thread where Node can (22.15 and up), as tsx does there, so that both kinds of hooks are one chain.
  if ("registerHooks" in nodeModule) {
    /** @type {(hooks: { resolve: typeof resolve }) => void} */ (nodeModule.registerHooks)({ resolve });
  } else nodeModule.register(new URL("./workspace-sources-hook.js", import.meta.url));
}
