import { type ConfigWithSecrets, configSecrets, encryptionSecrets } from "./link-names.ts";

/**
 * An SST secret for each variable that the configuration names, by the variable; required-secrets.ts has seen to it
 * that they are set. One that may be unset has an empty placeholder.
 */
export function createSecrets(config: ConfigWithSecrets): ReadonlyMap<string, sst.Secret> {
  return new Map(
    configSecrets(config).map(({ variable, link, optional }) => [
      variable,
      optional ? new sst.Secret(link, "") : new sst.Secret(link),
    ]),
  );
}

/** A secret that containers have in their environment. */
export type ContainerSecret = {
  readonly variable: string;
  readonly link: string;
  readonly value: $util.Output<string>;
};

/**
 * The encryption keys, for the workers. One that is unset is left out: it would need a parameter, and those have no
 * empty values.
 * @param env the environment of `sst deploy`, where SST puts each secret as SST_SECRET_<name>
 */
export function workerSecrets(
  config: ConfigWithSecrets,
  secrets: ReadonlyMap<string, sst.Secret>,
  env: Readonly<Record<string, string | undefined>>,
): readonly ContainerSecret[] {
  return encryptionSecrets(config).flatMap(({ variable, link }) => {
    const secret = secrets.get(variable);
    return secret && env[`SST_SECRET_${link}`]?.trim() ? [{ variable, link, value: secret.value }] : [];
  });
}
