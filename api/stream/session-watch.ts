import { holds } from '#shared/people/capabilities.ts';
import type { Actor } from '#shared/people/actor.ts';
import { closeCodes } from '#shared/contract/runs/stream.ts';
import { findKeyActors, findSessionHolders } from '#shared/db/people/credentials.ts';
import { readDefaultOwner } from '#shared/db/people/workspaces.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { StreamTokenMinter } from '#shared/platform/secrets/stream-tokens.ts';

/** How often the credentials of all streams are checked. A stream outlives its credential by at most this. */
const LOOK_EVERY_MS = 2_000;

/** What a stream was opened with: the credential itself, or that of who has created its stream token. */
export interface WatchedCredential {
  by: StreamTokenMinter;
  /** Unix seconds. Keys do not expire. */
  expiresAt: number | undefined;
}
type Close = (code: number) => void;

export interface SessionWatch {
  /** Calls `close` when the credential ends or loses the permission to view runs. The returned function ends the watch. */
  add(close: Close, credential: WatchedCredential): () => void;
  stop(): void;
}

/**
 * A stream is authorized once, when it opens. This checks again while it is open, with one statement for all members, one
 * for all keys and one for the owner in open mode. Expiry, removal, revocation and a new password close it with 4401; the loss of `view`
 * closes it with 4403.
 */
export function createSessionWatch({ db, log }: { db: Db; log: Logger }): SessionWatch {
  const watched = new Map<Close, WatchedCredential>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const look = async () => {
    if (looking || watched.size === 0) return;
    looking = true;
    try {
      const streams = [...watched];
      const actorOf = await readActors(db, [...new Set(streams.map(([, { by }]) => by))]);
      for (const [close, { by, expiresAt = Infinity }] of streams) {
        const actor = actorOf(by);
        if (actor === undefined || expiresAt * 1000 <= Date.now()) {
          close(closeCodes.unauthenticated);
        } else if (!holds(actor.role, actor.overrides, 'view')) close(closeCodes.forbidden);
      }
    } catch (error) {
      // While the database is unavailable, no frames are sent either.
      log.warn({ err: error }, 'could not check the credentials of streams');
    } finally {
      looking = false;
    }
  };

  return {
    add: (close, credential) => {
      watched.set(close, credential);
      if (timer === undefined) {
        timer = setInterval(() => void look(), LOOK_EVERY_MS);
        timer.unref();
      }
      return () => void watched.delete(close);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Returns a function that gives the actor of a credential, undefined if the credential is no longer valid. Without one, it
 * is the default owner: call it for `none` only in open mode.
 */
export async function readActors(
  db: Db,
  credentials: readonly StreamTokenMinter[],
): Promise<(by: StreamTokenMinter) => Actor | undefined> {
  const members = credentials.flatMap((by) => (by.kind === 'session' ? [by.memberId] : []));
  const keys = credentials.flatMap((by) => (by.kind === 'api_key' ? [by.keyId] : []));
  const open = credentials.some(({ kind }) => kind === 'none');
  const [holders, actors, owner] = await Promise.all([
    members.length === 0 ? undefined : findSessionHolders(db, [...new Set(members)]),
    keys.length === 0 ? undefined : findKeyActors(db, [...new Set(keys)]),
    open ? readDefaultOwner(db) : undefined,
  ]);
  return (by) => {
    if (by.kind === 'api_key') return actors?.get(by.keyId);
    if (by.kind === 'none') return owner;
    const holder = holders?.get(by.memberId);
    return holder?.epoch === by.epoch ? holder.actor : undefined;
  };
}
