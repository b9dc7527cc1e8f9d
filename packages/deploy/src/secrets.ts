import type { AnvilConfig } from "webhook-anvil/config";
import { sourceSecrets } from "./link-names.ts";

/**
 * An SST secret for each variable that the sources name; required-secrets.ts has seen to it that they are set. One
 * that may be unset has an empty placeholder.
 */
export function createSecrets(config: Pick<AnvilConfig<unknown>, "sources">): sst.Secret[] {
  return sourceSecrets(config).map(({ link, optional }) =>
    optional ? new sst.Secret(link, "") : new sst.Secret(link),
  );
}
