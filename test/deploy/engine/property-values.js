// How Pulumi's SDK writes a value that plain JSON has no word for: an object with this key, and what it is under it.
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** @type {Readonly<Record<string, string>>} */
const KINDS = {
  c44067f5952c0a294b673a41bacd8c17: "asset",
  "0def7320c3a5731c473e5ecbe6d01bc7": "archive",
  "5cf8f73096256a8f31e491e813e4eb8e": "resource",
};

/**
 * A property value as plain JSON.
 *
 * @param {any} value
 * @param {string[]} [secrets] filled with the path of each value that was marked secret
 * @param {string} [path] where the value stands
 * @returns {any}
 */
export function plainValue(value, secrets = [], path = "") {
  if (value === UNKNOWN) return { $kind: "unknown" };
  if (Array.isArray(value)) return value.map((item, index) => plainValue(item, secrets, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return value;
  const { [SIGNATURE]: kind, ...rest } = value;
  if (kind === SECRET) {
    secrets.push(path);
    return plainValue(value.value, secrets, path);
  }
  const entries = Object.entries(rest).map(([key, item]) => [
    key,
    plainValue(item, secrets, path === "" ? key : `${path}.${key}`),
  ]);
  return { ...(kind === undefined ? {} : { $kind: KINDS[kind] ?? kind }), ...Object.fromEntries(entries) };
}

/** @param {any} value */
export function secretValue(value) {
  return value?.[SIGNATURE] === SECRET ? value : { [SIGNATURE]: SECRET, value };
}
