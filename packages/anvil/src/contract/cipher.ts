import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { AnvilError } from "./errors.ts";
import { unreadable } from "./unreadable.ts";

/** AES-256 in Galois/Counter mode (NIST SP 800-38D): nobody without the key reads it, or changes it unseen. */
const ALGORITHM = "aes-256-gcm";
/** The length that GCM is made for. Random ones: a key is good for 2^32 of them (SP 800-38D, section 8.3). */
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

/** Keys for what lies in Redis. Holds them: never log it. */
export type Cipher = {
  /** The key that new data is sealed with. Undefined: new data stays plain, older data can be opened. */
  readonly keyId: string | undefined;
  /** Every key that data can be opened with, the current one first. */
  readonly keyIds: readonly string[];
  /**
   * `<keyId>.<iv>.<ciphertext and tag>`, the latter two in base64url.
   * @param context what it belongs to: it opens nowhere else
   */
  seal(plain: Uint8Array, context: SealContext): string;
  /** @throws {AnvilError} `unreadable_job`: its key isn't here, or it was changed, moved or damaged */
  open(sealed: string, context: SealContext): Buffer;
};

/** What sealed data is bound to: a kind, and what tells one of that kind from the others. */
export type SealContext = readonly [kind: string, ...parts: (string | number)[]];

/** Eight characters that tell keys apart and nothing about them. */
export function keyIdOf(key: Uint8Array): string {
  return createHash("sha256").update("anvil encryption key\0").update(key).digest("hex").slice(0, 8);
}

/** @param previous for opening alone */
export function createCipher(current: Uint8Array | undefined, previous: readonly Uint8Array[]): Cipher {
  const keys = new Map([...(current ? [current] : []), ...previous].map((key) => [keyIdOf(key), key]));
  const keyId = current && keyIdOf(current);
  return {
    keyId,
    keyIds: [...keys.keys()],
    seal(plain, context) {
      if (!current) throw new TypeError("There is no key to encrypt with");
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(contextBytes(context));
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${keyId}.${iv.toString("base64url")}.${sealed.toString("base64url")}`;
    },
    open(sealed, context) {
      const id = sealedKeyId(sealed);
      if (id === undefined) throw unreadable("what is encrypted in it isn't in the form that it should have");
      const key = keys.get(id);
      if (!key) throw withoutKey(id);
      const [, ivText = "", text = ""] = sealed.split(".");
      const iv = Buffer.from(ivText, "base64url");
      const bytes = Buffer.from(text, "base64url");
      try {
        const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
        decipher.setAAD(contextBytes(context));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw unreadable(
          `it was encrypted with key ${id}, and was changed, moved or damaged since. ` +
            "It can't be repaired: have the sender deliver the event again",
        );
      }
    },
  };
}

/** The key that something was sealed with; undefined when it isn't in the form of sealed data. */
export function sealedKeyId(sealed: string): string | undefined {
  return /^([0-9a-f]{8})\.[\w-]{16}\.[\w-]{22,}$/.exec(sealed)?.[1];
}

/** For a reader that has no keys at all. */
export function withoutKey(keyId: string | undefined): AnvilError {
  return unreadable(
    `it is encrypted with key ${keyId ?? "unknown"}, which is not here. Set that key as ` +
      "encryption.key or in encryption.previousKeys of the configuration, then replay it",
  );
}

/** JSON, so that no two contexts are the same bytes. */
function contextBytes(context: SealContext): Buffer {
  return Buffer.from(JSON.stringify(context));
}
