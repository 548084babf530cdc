import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The prefix of a sealed text is the format and the name of the key, so that either can be replaced later. */
const FORMAT = 's1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text that cannot be opened: sealed with another key, moved from another place, or damaged. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Keeps stored texts secret. `place` identifies the text's owner (a row and a field). A sealed text can only be opened
 * with the same place, so no one who can write rows can move it elsewhere.
 */
export interface Sealer {
  seal: (text: string, place: string) => string;
  /** Throws SealError. */
  open: (sealed: string, place: string) => string;
  /** Whether a text is sealed with the current key. */
  isCurrent: (sealed: string) => boolean;
}

/** The key that seals, and another one that can only open: the previous key, or, before a rotation, the next one. */
export interface SealingKeys {
  encryptionKey: string | undefined;
  previousEncryptionKey?: string | undefined;
}

/** Seals and opens with the configured keys. Undefined without a key to seal with. */
export function createSealer({
  encryptionKey,
  previousEncryptionKey,
}: SealingKeys): Sealer | undefined {
  if (encryptionKey === undefined) return undefined;
  const current = sealerOf(encryptionKey);
  if (previousEncryptionKey === undefined) return current;
  const previous = sealerOf(previousEncryptionKey);
  const openerOf = (sealed: string): Sealer => (previous.isCurrent(sealed) ? previous : current);
  return { ...current, open: (sealed, place) => openerOf(sealed).open(sealed, place) };
}

/** AES-256-GCM with a key derived from `encryptionKey`, which is any text of sufficient entropy. */
function sealerOf(encryptionKey: string): Sealer {
  const key = deriveKey(encryptionKey, 'seal', 32);
  const keyName = deriveKey(encryptionKey, 'name', 4).toString('hex');
  const prefix = `${FORMAT}.${keyName}.`;
  return {
    isCurrent: (sealed) => sealed.startsWith(prefix),
    seal: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(prefix + place));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return prefix + Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open: (sealed, place) => {
      if (!sealed.startsWith(prefix)) throw new SealError('Sealed with another key');
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealError('The sealed text is damaged');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(prefix + place))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealError('The sealed text is damaged, or of another place', { cause: error });
      }
    },
  };
}

/** A key for one use. */
export const deriveKey = (encryptionKey: string, use: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', `durable-workflows ${FORMAT} ${use}`, bytes));
