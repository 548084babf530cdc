import type { WorkspaceFrame, WorkspaceTopic } from '#shared/contract/runs/stream.ts';
import { readTopicMarkers, type TopicMarker } from '#shared/db/audit/topics.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { FrameBus } from './bus.ts';

/** How often the workspaces with sockets are checked, in one statement for all of them. */
const LOOK_EVERY_MS = 1_000;
/**
 * A change is sent once more after this time, because a transaction that began before the first time may commit after
 * it.
 */
const AGAIN_AFTER_MS = 5_000;
/** If there are more runs than this between two checks, they count as a change in every workspace. */
const MAX_HEARD = 1_000;

type Deliver = (frame: Buffer) => void;

interface Watched {
  deliver: Set<Deliver>;
  markers: Map<WorkspaceTopic, string | null>;
  /** When a topic must be sent once more, in milliseconds of `performance.now()`. */
  again: Map<WorkspaceTopic, number>;
}

export interface WorkspaceWatch {
  /** The markers before a socket opens, so that no later change is missed. */
  begin(workspaceId: string): Promise<readonly TopicMarker[]>;
  /**
   * Delivers a frame, at most once a second, when something has changed since `begin`. Returns a function that ends it.
   */
  subscribe(workspaceId: string, since: readonly TopicMarker[], deliver: Deliver): () => void;
  stop(): void;
}

/**
 * Sends the sockets of a workspace what has changed in it. It compares markers that are in the database anyway, so it
 * adds no cost to writes.
 */
export function createWorkspaceWatch({
  db,
  log,
  bus,
}: {
  db: Db;
  log: Logger;
  bus: FrameBus;
}): WorkspaceWatch {
  const watched = new Map<string, Watched>();
  let heard: Set<string> | 'any' = new Set();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const listen = (runIds: readonly string[] | undefined): void => {
    if (heard === 'any' || watched.size === 0) return;
    if (runIds === undefined || heard.size + runIds.length > MAX_HEARD) heard = 'any';
    else for (const runId of runIds) heard.add(runId);
  };

  const look = async (): Promise<void> => {
    if (looking || watched.size === 0) return;
    looking = true;
    const runs = heard;
    heard = new Set();
    try {
      const rows = await readTopicMarkers(db, [...watched.keys()], runs === 'any' ? [] : [...runs]);
      deliverChanges(watched, rows, runs === 'any' ? ['step'] : []);
    } catch (error) {
      // The markers are compared again when the database responds, but the runs are no longer known.
      heard = 'any';
      log.warn({ err: error }, 'could not look for changes of workspaces');
    } finally {
      looking = false;
    }
  };

  return {
    begin: (workspaceId) => readTopicMarkers(db, [workspaceId], []),
    subscribe: (workspaceId, since, deliverFrame) => {
      const each = watched.get(workspaceId) ?? {
        deliver: new Set(),
        markers: new Map(since.map(({ topic, marker }) => [topic, marker])),
        again: new Map(),
      };
      watched.set(workspaceId, each);
      each.deliver.add(deliverFrame);
      if (timer === undefined) {
        bus.onWake(listen);
        timer = setInterval(() => void look(), LOOK_EVERY_MS);
        timer.unref();
      }
      return () => {
        each.deliver.delete(deliverFrame);
        if (each.deliver.size === 0 && watched.get(workspaceId) === each) {
          watched.delete(workspaceId);
        }
      };
    },
    stop: () => clearInterval(timer),
  };
}

/** Sends each workspace what has changed in it. `everywhere` counts as changed in all of them. */
function deliverChanges(
  watched: ReadonlyMap<string, Watched>,
  rows: readonly TopicMarker[],
  everywhere: readonly WorkspaceTopic[],
): void {
  const now = performance.now();
  const changed = new Map<string, Set<WorkspaceTopic>>();
  for (const [workspaceId, each] of watched) {
    changed.set(workspaceId, new Set([...everywhere, ...dueAgain(each, now)]));
  }
  for (const row of rows) {
    const each = watched.get(row.workspace_id);
    if (each !== undefined && hasChanged(each, row, now)) {
      changed.get(row.workspace_id)?.add(row.topic);
    }
  }
  for (const [workspaceId, topics] of changed) deliver(watched.get(workspaceId), topics);
}

/** Takes the topics that must now be sent once more. */
function dueAgain({ again }: Watched, now: number): WorkspaceTopic[] {
  const due = [...again].filter(([, at]) => at <= now).map(([topic]) => topic);
  for (const topic of due) again.delete(topic);
  return due;
}

/** Whether the marker of a topic has changed. Stores the new one. */
function hasChanged(each: Watched, { topic, marker }: TopicMarker, now: number): boolean {
  if (topic === 'step') return true;
  if (each.markers.get(topic) === marker) return false;
  each.markers.set(topic, marker);
  each.again.set(topic, now + AGAIN_AFTER_MS);
  return true;
}

function deliver(each: Watched | undefined, topics: ReadonlySet<WorkspaceTopic>): void {
  if (each === undefined || topics.size === 0) return;
  const frame: WorkspaceFrame = { type: 'changed', changed: [...topics] };
  const encoded = Buffer.from(JSON.stringify(frame));
  for (const send of each.deliver) send(encoded);
}
