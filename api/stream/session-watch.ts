import type { WebSocket } from 'ws';
import { holds } from '#shared/people/capabilities.ts';
import { closeCodes } from '#shared/contract/runs/stream.ts';
import { findSessionHolders } from '#shared/db/people/credentials.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Session } from '#shared/platform/secrets/session-tokens.ts';

/** How often the sessions of all sockets are checked. A socket outlives its session by at most this. */
const LOOK_EVERY_MS = 2_000;

export interface SessionWatch {
  /** Closes the socket when its session ends or loses the permission to view runs. */
  add(socket: WebSocket, session: Session): void;
  stop(): void;
}

/**
 * A socket is authorized once, when it opens. This checks again while it is open, in one statement for all sockets of
 * the process. Expiry, removal and a new password close it with 4401; the loss of `view` closes it with 4403.
 */
export function createSessionWatch({ db, log }: { db: Db; log: Logger }): SessionWatch {
  const watched = new Map<WebSocket, Session>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const look = async () => {
    if (looking || watched.size === 0) return;
    looking = true;
    try {
      const sockets = [...watched];
      const ids = new Set(sockets.map(([, session]) => session.memberId));
      const holders = await findSessionHolders(db, [...ids]);
      for (const [socket, session] of sockets) {
        const holder = holders.get(session.memberId);
        const ended = holder?.epoch !== session.epoch || session.expiresAt * 1000 <= Date.now();
        if (holder === undefined || ended) socket.close(closeCodes.unauthenticated);
        else if (!holds(holder.actor.role, holder.actor.overrides, 'view')) {
          socket.close(closeCodes.forbidden);
        }
      }
    } catch (error) {
      // While the database is unavailable, no frames are sent either.
      log.warn({ err: error }, 'could not check the sessions of streams');
    } finally {
      looking = false;
    }
  };

  return {
    add: (socket, session) => {
      watched.set(socket, session);
      socket.on('close', () => watched.delete(socket));
      if (timer === undefined) {
        timer = setInterval(() => void look(), LOOK_EVERY_MS);
        timer.unref();
      }
    },
    stop: () => clearInterval(timer),
  };
}
