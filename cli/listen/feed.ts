import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiError,
  type Client,
  ConnectionError,
  type WebhookEndpointEvent,
} from '#client/index.ts';

/** The pause between two reads. */
const LOOK_MS = 1_000;
/**
 * The time of an event is when its transaction began, so an event can become visible behind later ones. Longer than any
 * transaction that writes events.
 */
const OVERLAP_MS = 60_000;
/** How often the overlap is read again. */
const OVERLAP_EVERY_MS = 5_000;
/** The longest pause before the service is called again. */
const LONGEST_PAUSE_MS = 10_000;
const PAGE = 100;

export interface FeedOptions {
  /** ISO 8601. Without it, only events from now on. */
  since?: string | undefined;
  signal: AbortSignal;
  /** Called once: every event from then on is yielded. */
  onReady: () => void;
  onLost: (error: Error) => void;
  onBack: () => void;
}

/**
 * Yields the events of an endpoint as they come, each once, also over broken connections: the position is in this
 * process, and the service keeps the events. `since` must be a valid time. Throws the error of a request that the service refuses, and when the signal
 * is aborted.
 */
export async function* eventsAsTheyCome(
  client: Client,
  endpointId: string,
  { since, signal, onReady, onLost, onBack }: FeedOptions,
): AsyncGenerator<WebhookEndpointEvent, void, undefined> {
  const seen = new Map<string, number>();
  const surely = <Result>(read: () => Promise<Result>): Promise<Result> =>
    untilAnswered(read, { signal, onLost, onBack });
  let newest = since === undefined ? undefined : Date.parse(since);
  let earliest = newest;
  /** The events from then on that were not seen before. A page is noted before it is yielded. */
  async function* unseen(from: number | undefined): AsyncGenerator<WebhookEndpointEvent, void> {
    const query = { limit: PAGE, ...(from !== undefined && { since: timeOf(from) }) };
    for (let cursor: string | undefined; ;) {
      const page = await surely(() =>
        client.listEndpointEvents(endpointId, { ...query, cursor }, { signal }),
      );
      for (const event of page.events) {
        if (seen.has(event.delivery_id)) continue;
        const at = Date.parse(event.created_at);
        seen.set(event.delivery_id, at);
        newest = Math.max(newest ?? at, at);
        yield event;
      }
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }
  if (since === undefined) {
    const query = { limit: 1 };
    const last = await surely(() => client.listDeliveries(endpointId, query, { signal }));
    if (last.deliveries[0] !== undefined) {
      earliest = Date.parse(last.deliveries[0].created_at) - OVERLAP_MS;
      // They are earlier, and so are not yielded.
      for await (const _event of unseen(earliest));
    }
  }
  onReady();
  for (let overlapAt = 0; ;) {
    const isOverlap = performance.now() >= overlapAt;
    const from = newest === undefined ? undefined : newest - (isOverlap ? OVERLAP_MS : 0);
    yield* unseen(from === undefined ? undefined : Math.max(from, earliest ?? from));
    if (isOverlap) {
      overlapAt = performance.now() + OVERLAP_EVERY_MS;
      forget(seen, (newest ?? 0) - 2 * OVERLAP_MS);
    }
    await sleep(LOOK_MS, undefined, { signal });
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Forgets events that are no longer read. */
function forget(seen: Map<string, number>, before: number): void {
  for (const [id, at] of seen) if (at < before) seen.delete(id);
}

/** Repeats a read until the service answers it. */
async function untilAnswered<Result>(
  read: () => Promise<Result>,
  { signal, onLost, onBack }: Pick<FeedOptions, 'signal' | 'onLost' | 'onBack'>,
): Promise<Result> {
  for (let failed = 0; ; failed += 1) {
    try {
      const result = await read();
      if (failed > 0) onBack();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (failed === 0) onLost(error);
      await sleep(Math.min(LONGEST_PAUSE_MS, LOOK_MS * 2 ** failed), undefined, { signal });
    }
  }
}

const isPassing = (error: unknown): error is Error =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500));
