import type { AnvilConfig } from "../contract/config.ts";
import type { Provider } from "./provider.ts";
import type { ProviderName } from "./providers/index.ts";

/** Gives a configuration file its types; the value comes back as it is. */
export function defineConfig(
  config: AnvilConfig<ProviderName | Provider>,
): AnvilConfig<ProviderName | Provider> {
  return config;
}
