import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, StreamError } from '#client/index.ts';
import type { Caller, Person } from './people.ts';
import type { Random } from './random.ts';

/** The frames of one socket, from its opening to its end. */
export interface Connection {
  openedAt: number | null;
  closedAt: number | null;
  /** As JSON, in order of arrival. */
  frames: string[];
}

/** A client that follows a run, across reconnects. */
export interface Follow {
  runId: string;
  connections: Connection[];
  /** The run as read at the last opening or frame, and the time of that read. */
  read: { status: string; at: number } | null;
}

export interface Follower {
  follows: Follow[];
  follow(person: Person, runId: string): void;
  /** The current number of followers. */
  count(): number;
  /** Closes all sockets and resolves when they are closed. */
  stop(): Promise<void>;
}

const RECONNECT_MS = [200, 1_500] as const;

/** Reconnects until `stop`, and reads the run after connecting and after every frame, as documented for clients. */
export function createFollower(
  apiUrls: readonly [string, string],
  caller: Caller,
  random: Random,
): Follower {
  const follows: Follow[] = [];
  const stopping = new AbortController();
  const underWay: Promise<void>[] = [];

  const connect = async (person: Person, follow: Follow): Promise<void> => {
    const { runId } = follow;
    const connection: Connection = { openedAt: null, closedAt: null, frames: [] };
    follow.connections.push(connection);
    const refetch = async (): Promise<void> => {
      const answer = await caller.read(person, `/api/runs/${runId}`);
      if (answer?.status === 200) follow.read = { status: answer.body.status, at: Date.now() };
    };
    const client = createClient({
      baseUrl: random.pick(apiUrls),
      ...(person.token === undefined ? {} : { token: person.token }),
    });
    const onOpen = (): void => {
      connection.openedAt = Date.now();
      void refetch();
    };
    try {
      for await (const frame of client.stream(runId, { onOpen, signal: stopping.signal })) {
        connection.frames.push(JSON.stringify(frame));
        await refetch();
      }
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
    } finally {
      connection.closedAt = Date.now();
    }
  };

  const keepFollowing = async (person: Person, follow: Follow): Promise<void> => {
    while (!stopping.signal.aborted) {
      await connect(person, follow);
      await sleep(random.int(...RECONNECT_MS), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  };

  return {
    follows,
    follow: (person, runId) => {
      const follow: Follow = { runId, connections: [], read: null };
      follows.push(follow);
      underWay.push(keepFollowing(person, follow));
    },
    count: () => follows.length,
    stop: async () => {
      stopping.abort();
      await Promise.race([Promise.allSettled(underWay), sleep(3_000)]);
    },
  };
}
