import { availableParallelism } from 'node:os';

/**
 * The maximum number of steps of one workspace in a worker's lane. They hold local activity slots that other runs need.
 */
const PER_WORKSPACE = 25;
/** How many of them run concurrently while another workspace uses the lane. */
const BESIDE_OTHERS = Math.max(1, Math.floor(availableParallelism() / 2));
/** How long after its last step a workspace still counts as using the lane. */
const RECENT_MS = 1_000;

/**
 * Shares the short lane of a worker between workspaces. A single workspace runs all its steps concurrently. With
 * several, each runs half as many as there are processors, at least one, and its other steps wait. So a graph with many
 * short steps does not slow the runs of another workspace.
 */
export interface ShortLane {
  /**
   * Waits for a slot and returns a function that releases it, which must be called once. Undefined when the workspace
   * has too many steps in the lane. Throws the signal's reason if it is aborted first.
   */
  enter: (workspaceId: string, signal: AbortSignal) => Promise<(() => void) | undefined>;
}

interface Share {
  executing: number;
  /** In order of arrival. */
  waiting: Set<(_: undefined) => void>;
  /** When its last step ended, in ms of `now`. */
  lastEnd: number;
}

/** `besideOthers` and `now`, a clock in ms, are for tests. */
export function createShortLane({
  besideOthers = BESIDE_OTHERS,
  now = () => performance.now(),
} = {}): ShortLane {
  const shares = new Map<string, Share>();

  /** How many steps the workspace can run concurrently now. Removes workspaces that no longer use the lane. */
  function slotsOf(workspaceId: string): number {
    for (const [other, { executing, waiting, lastEnd }] of shares) {
      if (other === workspaceId) continue;
      if (executing + waiting.size > 0 || now() - lastEnd < RECENT_MS) return besideOthers;
      shares.delete(other);
    }
    return PER_WORKSPACE;
  }

  function shareOf(workspaceId: string): Share {
    const known = shares.get(workspaceId);
    if (known) return known;
    const share: Share = { executing: 0, waiting: new Set(), lastEnd: -Infinity };
    shares.set(workspaceId, share);
    return share;
  }

  function admit(workspaceId: string, share: Share): void {
    const slots = slotsOf(workspaceId);
    for (const begin of share.waiting) {
      if (share.executing >= slots) return;
      share.waiting.delete(begin);
      share.executing += 1;
      begin(undefined);
    }
  }

  return {
    enter: async (workspaceId, signal) => {
      signal.throwIfAborted();
      const share = shareOf(workspaceId);
      if (share.executing + share.waiting.size >= PER_WORKSPACE) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      const abandon = (): void => {
        if (share.waiting.delete(resolve)) reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abandon, { once: true });
      share.waiting.add(resolve);
      admit(workspaceId, share);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abandon);
      }
      return () => {
        share.executing -= 1;
        share.lastEnd = now();
        admit(workspaceId, share);
      };
    },
  };
}
