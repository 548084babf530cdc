import { setImmediate } from 'node:timers/promises';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { readPayload } from '#shared/db/agents/deltas.ts';
import { readFrames } from '#shared/db/runs/frames.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { encodeDelta, RunAnswers } from './answers.ts';
import { type Listener, listenForFrames } from './listener.ts';

/** How often every run with sockets is checked, even without a notification. */
const LOOK_EVERY_MS = 1_000;
/** Runs per statement, and the rows that one statement returns. */
const RUNS_PER_LOOK = 500;
const ROWS_PER_LOOK = 1_000;

interface Subscription {
  runId: string;
  /** The subscriber already has the frames up to this number. */
  after: number;
  /** Whether it gets the turns of agents, the text of their models, and the pauses of children. */
  deltas: boolean;
  /** Receives each frame as JSON, which is encoded once for all subscribers, and its number, if it is stored. */
  deliver: (frame: Buffer, seq?: number) => void;
  /** Called after each stored frame, also those that are not delivered. */
  passed?: ((seq: number, type: StreamFrame['type']) => void) | undefined;
}

interface Subscriber extends Subscription {
  /** Only with `deltas`. */
  answers: RunAnswers | undefined;
}

/** Sent only to subscribers with `deltas`. */
const DETAILS: ReadonlySet<StreamFrame['type']> = new Set([
  'agent_turn',
  'child_paused',
  'child_continued',
]);

interface FrameBusDeps {
  db: Db;
  log: Logger;
  databaseUrl: string | undefined;
}

export interface FrameBus {
  /** Starts to deliver. The returned function stops it. */
  subscribe(subscription: Subscription): () => void;
  /** Calls `heard` with the runs that may have new frames; undefined: any run. */
  onWake(heard: (runIds: readonly string[] | undefined) => void): void;
  stop(): Promise<void>;
}

const encode = (frame: StreamFrame): Buffer => Buffer.from(JSON.stringify(frame));

/** Delivers new frames to the subscribers of these runs. Returns whether more frames may remain. */
async function readAndDeliver(
  db: Db,
  byRun: ReadonlyMap<string, ReadonlySet<Subscriber>>,
  runIds: readonly string[],
): Promise<boolean> {
  const cursors = runIds.flatMap((runId) => {
    const subscriptions = byRun.get(runId);
    if (subscriptions === undefined) return [];
    return [{ runId, after: Math.min(...[...subscriptions].map((each) => each.after)) }];
  });
  const rows = await readFrames(db, cursors);
  for (const row of rows) {
    const encoded = encode(row.frame);
    for (const subscription of byRun.get(row.run_id) ?? []) {
      if (row.seq <= subscription.after) continue;
      subscription.after = row.seq;
      if (subscription.deltas || !DETAILS.has(row.frame.type)) {
        subscription.deliver(encoded, row.seq);
      }
      subscription.passed?.(row.seq, row.frame.type);
    }
  }
  return rows.length === ROWS_PER_LOOK;
}

/**
 * Delivers pieces of answers directly to the subscribers. Payloads keep their order. Other requests are served between
 * two pieces, since a run can have a hundred sockets.
 */
function createDeltaDelivery(
  byRun: ReadonlyMap<string, ReadonlySet<Subscriber>>,
  log: Logger,
): (payload: string) => void {
  const deliver = async (payload: string): Promise<void> => {
    for (const delta of readPayload(payload)) {
      const subscriptions = byRun.get(delta.run_id);
      if (subscriptions === undefined) continue;
      const encoded = encodeDelta(delta);
      for (const { answers } of subscriptions) answers?.take(delta, encoded);
      await setImmediate();
    }
  };
  let earlier = Promise.resolve();
  return (payload) => {
    earlier = earlier
      .then(() => deliver(payload))
      .catch((error: unknown) => log.warn({ err: error }, 'could not deliver pieces of answers'));
  };
}

function beginAnswers(byRun: ReadonlyMap<string, ReadonlySet<Subscriber>>): void {
  for (const subscribers of byRun.values()) {
    for (const { answers } of subscribers) answers?.begin();
  }
}

/** Returns the function that removes it. Answers are read once all later pieces are heard. */
function addTo(
  byRun: Map<string, Set<Subscriber>>,
  subscription: Subscription,
  { listening, ...deps }: { db: Db; log: Logger; listening: boolean },
): () => void {
  const { runId, deltas, deliver } = subscription;
  const answers = deltas ? new RunAnswers({ ...deps, runId }, deliver) : undefined;
  const subscriber = { ...subscription, answers };
  const subscribers = byRun.get(runId) ?? new Set();
  byRun.set(runId, subscribers.add(subscriber));
  if (listening) answers?.begin();
  return () => {
    if (!subscribers.delete(subscriber)) return;
    if (subscribers.size === 0 && byRun.get(runId) === subscribers) byRun.delete(runId);
  };
}

/**
 * Delivers frames from the database to the sockets of this process. Each subscriber has its own cursor, and the frames
 * of a run are numbered in commit order, so it gets every frame once and in order, no matter when this wakes up. It
 * listens to the database from the first subscriber on.
 */
export function createFrameBus(deps: FrameBusDeps): FrameBus {
  const { db, log, databaseUrl } = deps;
  const byRun = new Map<string, Set<Subscriber>>();
  const dirty = new Set<string>();
  let looking = false;
  let listening = false;
  let stopped = false;
  let listener: Listener | undefined;
  let timer: NodeJS.Timeout | undefined;
  const listeners = new Set<(runIds: readonly string[] | undefined) => void>();

  const wake = (runIds: Iterable<string>) => {
    for (const runId of runIds) if (byRun.has(runId)) dirty.add(runId);
    if (!looking && dirty.size > 0 && !stopped) void look();
  };

  const look = async () => {
    looking = true;
    try {
      while (dirty.size > 0 && !stopped) {
        const runIds = [...dirty].slice(0, RUNS_PER_LOOK);
        for (const runId of runIds) dirty.delete(runId);
        const more = await readAndDeliver(db, byRun, runIds);
        if (more) for (const runId of runIds) dirty.add(runId);
      }
    } catch (error) {
      // The runs are checked again within a second.
      log.warn({ err: error }, 'could not read frames');
    } finally {
      looking = false;
    }
  };

  listeners.add((runIds) => wake(runIds ?? byRun.keys()));
  const start = () => {
    if (listener !== undefined || databaseUrl === undefined) return;
    listener = listenForFrames(databaseUrl, log, {
      onFrames: (runIds) => listeners.forEach((heard) => heard(runIds)),
      onDeltas: createDeltaDelivery(byRun, log),
      onListening: () => {
        listening = true;
        beginAnswers(byRun);
      },
    });
    timer = setInterval(() => wake(byRun.keys()), LOOK_EVERY_MS).unref();
  };

  return {
    subscribe: (subscription) => {
      const unsubscribe = addTo(byRun, subscription, { db, log, listening });
      start();
      wake([subscription.runId]);
      return unsubscribe;
    },
    onWake: (heard) => {
      listeners.add(heard);
      start();
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await listener?.stop();
    },
  };
}
