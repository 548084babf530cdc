import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '#shared/errors.ts';

/**
 * The position after a page of the data API: microseconds since 1970, and a tie-breaker for rows with the same time.
 */
export interface ListPosition {
  at: number;
  tie: string;
}

/**
 * A cursor is only valid for its list: the operation, the owner and the filters. With a random key, cursors, like
 * sessions, expire with the process.
 */
export interface DataCursors {
  write: (position: ListPosition, list: readonly unknown[]) => string;
  /** Throws AppError `invalid` for a cursor that `write` did not create for the same list. */
  read: (cursor: string, list: readonly unknown[]) => ListPosition;
}

/** Half of a SHA-256 hash cannot be guessed. */
const MAC_BYTES = 16;
const POSITION = /^(-?\d{1,17}):([\w-]{1,100})$/;

/** Cursors signed with HMAC-SHA256 under a key derived from the secret. */
export function createDataCursors(secret: string | undefined): DataCursors {
  const material = secret ?? randomBytes(32);
  // A key object, because from bytes, each signature would build one, which takes four times as long as the signature
  // itself.
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', material, '', 'data cursors', 32)));
  // The position contains no line break, so it cannot be mistaken for part of the list.
  const sign = (position: string, list: readonly unknown[]): Buffer =>
    createHmac('sha256', key)
      .update(`${position}\n${JSON.stringify(list)}`)
      .digest()
      .subarray(0, MAC_BYTES);
  return {
    write: ({ at, tie }, list) => {
      const position = `${at}:${tie}`;
      return Buffer.concat([sign(position, list), Buffer.from(position)]).toString('base64url');
    },
    read: (cursor, list) => {
      const bytes = Buffer.from(cursor, 'base64url');
      const position = bytes.subarray(MAC_BYTES).toString('utf8');
      const [, at, tie] = POSITION.exec(position) ?? [];
      // Decoding ignores characters outside its alphabet, so only the canonical form is valid.
      const isOwn =
        bytes.toString('base64url') === cursor &&
        tie !== undefined &&
        timingSafeEqual(bytes.subarray(0, MAC_BYTES), sign(position, list));
      if (!isOwn) throw new AppError('invalid', 'cursor: not a cursor of this list');
      return { at: Number(at), tie };
    },
  };
}
