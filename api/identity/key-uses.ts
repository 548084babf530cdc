import { type RecordUses, recordKeyUses } from '#shared/db/people/key-uses.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** Maximum delay before a use is written. */
const WRITE_EVERY_MS = 2_000;
/** The maximum number of keys with unwritten uses; beyond it, the key with the oldest use is dropped. */
const MAX_WAITING = 10_000;

export interface KeyUses {
  /** Records that a key was used now, without a statement. */
  note(keyId: string): void;
  /** The last use of a key that this process has not written yet. */
  latest(keyId: string): Date | undefined;
  /** Writes the waiting uses, and also resolves if that fails. Later uses are not written. */
  stop(): Promise<void>;
}

/**
 * The last uses of keys. A write per request would cost more than most requests, so uses wait here, and one statement
 * writes them all. After a failure, they wait for the next one. `record` is that statement.
 */
export function createKeyUses(
  { db, log }: { db: Db; log: Logger },
  record: RecordUses = recordKeyUses,
): KeyUses {
  // In order of use: a key that is used again moves to the end.
  const waiting = new BoundedMap<string, Date>(MAX_WAITING);
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let stopped = false;

  const write = async () => {
    const uses = [...waiting];
    if (uses.length === 0) return;
    try {
      await record(db, uses);
      for (const [keyId, at] of uses) {
        if (waiting.get(keyId) === at) waiting.delete(keyId);
      }
    } catch (error) {
      log.warn({ err: error, keys: uses.length }, 'could not write when keys were last used');
    }
  };

  const arm = () => {
    if (stopped || timer !== undefined || waiting.size === 0) return;
    timer = setTimeout(() => {
      writing = write().then(() => {
        timer = undefined;
        arm();
      });
    }, WRITE_EVERY_MS);
    timer.unref();
  };

  return {
    note: (keyId) => {
      waiting.set(keyId, new Date());
      arm();
    },
    latest: (keyId) => waiting.get(keyId),
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
}

/** Uses are written with a delay. This adds those that this process has not written yet. */
export function withLatestUse<Key extends { id: string; last_used_at: string | null }>(
  key: Key,
  keyUses: KeyUses,
): Key {
  const latest = keyUses.latest(key.id)?.toISOString();
  const known = key.last_used_at ?? '';
  return latest !== undefined && latest > known ? { ...key, last_used_at: latest } : key;
}
