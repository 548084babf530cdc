import { newId } from '#shared/crypto/ids.ts';
import type { LoggedEvent } from '#shared/db/inbound/log.ts';
import { writeEvents } from '#shared/db/inbound/log.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** Maximum delay before an entry is written. */
const WRITE_EVERY_MS = 500;
const MINUTE_MS = 60_000;
/**
 * The maximum number of log entries per minute for a workflow and outcome. Further events are only counted, per reason.
 */
export const ENTRIES_PER_MINUTE = 100;
/** The maximum number of entries that wait to be written. Further events are only counted. */
const MAX_WAITING = 500;
/**
 * The maximum number of workflows with counted entries, and of counts. Those that changed longest ago are dropped
 * first.
 */
const MAX_COUNTED = 10_000;
/** A statement writes entries until the total size of their bodies reaches this. */
const BATCH_BYTES = 1_000_000;

/** Logs the inbound events that started no run. The others are logged with their run. */
export interface EventLog {
  /** Adds an event, without a statement. */
  note(event: Omit<LoggedEvent, 'times'>): void;
  /** Writes the waiting entries, and also resolves if that fails. Later events are not written. */
  stop(): Promise<void>;
}

/** The events of a minute that are only counted. */
interface Sum {
  entry: LoggedEvent;
  isWritten: boolean;
}

/**
 * A write per event would make refused events, which anyone can send, as expensive as runs. So they wait here, and one
 * statement writes them all. After a failure, they wait for the next one. Each process counts separately.
 */
export function createEventLog({ db, log }: { db: Db; log: Logger }): EventLog {
  let waiting: LoggedEvent[] = [];
  const counts = new BoundedMap<string, { minute: number; n: number }>(MAX_COUNTED);
  const sums = new BoundedMap<string, Sum>(MAX_COUNTED);
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let stopped = false;

  const isOver = ({ workflowId, outcome, receivedAt }: Omit<LoggedEvent, 'times'>): boolean => {
    const key = `${workflowId}/${outcome}`;
    const minute = Math.floor(receivedAt.getTime() / MINUTE_MS);
    const before = counts.get(key);
    const n = before?.minute === minute ? before.n + 1 : 1;
    counts.set(key, { minute, n });
    return n > ENTRIES_PER_MINUTE || waiting.length >= MAX_WAITING;
  };

  const write = async () => {
    while (waiting.length > 0) {
      const batch = takeBatch(waiting);
      await writeEvents(db, batch);
      waiting = waiting.slice(batch.length);
    }
    const changed = [...sums].filter(([, { isWritten }]) => !isWritten).slice(0, MAX_WAITING);
    if (changed.length === 0) return;
    const entries = changed.map(([, { entry }]) => ({ ...entry }));
    await writeEvents(db, entries);
    changed.forEach(([, sum], at) => {
      sum.isWritten = sum.entry.times === entries[at]!.times;
    });
    dropPast(sums);
  };
  const persist = () =>
    write().catch((error: unknown) =>
      log.warn({ err: error, events: waiting.length }, 'could not write the log of inbound events'),
    );
  const hasMore = () => waiting.length > 0 || [...sums.values()].some((sum) => !sum.isWritten);
  const arm = () => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      writing = persist().then(() => {
        timer = undefined;
        if (hasMore()) arm();
      });
    }, WRITE_EVERY_MS);
    timer.unref();
  };

  return {
    note: (event) => {
      if (isOver(event)) addTo(sums, event);
      else waiting.push({ ...event, times: 1 });
      arm();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await writing;
      await persist();
    },
  };
}

/** The first entries whose bodies are small enough in total, and at least one. */
function takeBatch(waiting: readonly LoggedEvent[]): LoggedEvent[] {
  let bytes = 0;
  const end = waiting.findIndex(({ body }) => {
    bytes += body?.length ?? 0;
    return bytes > BATCH_BYTES;
  });
  return waiting.slice(0, end === -1 ? waiting.length : Math.max(1, end));
}

/** Adds an event to the count for its minute and reason. */
function addTo(sums: Map<string, Sum>, event: Omit<LoggedEvent, 'times'>): void {
  const { workflowId, outcome, reason, receivedAt } = event;
  const minute = Math.floor(receivedAt.getTime() / MINUTE_MS);
  const key = [workflowId, outcome, reason ?? '', minute].join('/');
  const sum = sums.get(key);
  if (sum === undefined) {
    sums.set(key, { entry: summaryOf(event), isWritten: false });
  } else {
    sum.entry.times += 1;
    sum.isWritten = false;
  }
}

/** The common fields of counted events. */
const summaryOf = (event: Omit<LoggedEvent, 'times'>): LoggedEvent => ({
  ...event,
  id: newId('inboundEvent'),
  source: 'several',
  headers: {},
  size: null,
  body: null,
  eventId: null,
  runId: null,
  detail: null,
  times: 1,
});

/** Drops the written counts of past minutes. */
function dropPast(sums: Map<string, Sum>): void {
  const thisMinute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  for (const [key, { entry, isWritten }] of sums) {
    if (isWritten && entry.receivedAt.getTime() < thisMinute) sums.delete(key);
  }
}
