import pg from 'pg';
import { DELTAS_CHANNEL } from '#shared/db/agents/deltas.ts';
import { FRAMES_CHANNEL } from '#shared/db/runs/frames.ts';
import { messageOf } from '#shared/errors.ts';
import type { Logger } from '#shared/platform/logger.ts';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;

export interface Listener {
  stop(): Promise<void>;
}

export interface Heard {
  /** Called with run ids, or `undefined` when any run may have new frames. */
  onFrames: (runIds: string[] | undefined) => void;
  /** A payload of the channel for deltas. */
  onDeltas: (payload: string) => void;
  /** From now on, everything is heard, until the connection ends. */
  onListening: () => void;
}

/**
 * One connection that listens for new frames and deltas for the life of the process, and reconnects with growing
 * delays.
 */
export function listenForFrames(
  url: string,
  log: Logger,
  { onFrames, onDeltas, onListening }: Heard,
): Listener {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = FIRST_DELAY_MS;
  let stopped = false;

  const retry = (reason: string) => {
    if (stopped || timer !== undefined) return;
    log.warn({ reason, delayMs }, 'not listening for frames');
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, delayMs);
    delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2);
  };

  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      application_name: 'frames',
    });
    client = next;
    next.on('error', (error) => retry(messageOf(error)));
    next.on('end', () => retry('the connection ended'));
    next.on('notification', ({ channel, payload }) => {
      if (channel === DELTAS_CHANNEL) onDeltas(payload ?? '');
      else onFrames(payload === undefined || payload === '' ? undefined : payload.split(','));
    });
    try {
      await next.connect();
      await next.query(`LISTEN ${FRAMES_CHANNEL}; LISTEN ${DELTAS_CHANNEL}`);
      delayMs = FIRST_DELAY_MS;
      onListening();
      onFrames(undefined);
    } catch (error) {
      retry(messageOf(error));
      await next.end().catch(() => undefined);
    }
  };

  void connect();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
