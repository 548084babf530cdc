import type { Config } from '#shared/platform/config.ts';

export type SocketLimits = Config['api']['streamSockets'];

/** Who opens a socket, and for which run; without a run, for the workspace. `caller`: in open mode, an address. */
export interface PlaceTaker {
  runId: string | undefined;
  workspaceId: string;
  caller: { kind: 'member' | 'address'; id: string };
}

export interface SocketSlots {
  /** Takes a slot, or returns a one-sentence refusal. `release` may be called more than once. */
  take(taker: PlaceTaker): { release: () => void } | { refusal: string };
}

/**
 * The slots for sockets in this process. They are taken before the handshake, so that concurrent handshakes stay within
 * the limits, and counted for each party that could take more than its share.
 */
export function createSocketSlots(limits: SocketLimits): SocketSlots {
  const taken = new Map<string, number>();
  const add = (key: string, by: 1 | -1) => {
    const count = (taken.get(key) ?? 0) + by;
    if (count === 0) taken.delete(key);
    else taken.set(key, count);
  };
  return {
    take: (taker) => {
      const shares = sharesOf(taker, limits);
      const full = shares.find(({ key, limit }) => (taken.get(key) ?? 0) >= limit);
      if (full !== undefined) return { refusal: `${full.whose} at most ${full.limit} streams` };
      for (const { key } of shares) add(key, 1);
      let held = true;
      return {
        release: () => {
          if (!held) return;
          held = false;
          for (const { key } of shares) add(key, -1);
        },
      };
    },
  };
}

interface Share {
  key: string;
  limit: number;
  /** The start of a refusal. With the number, it must fit into the 123 bytes of a close frame. */
  whose: string;
}

function sharesOf({ runId, workspaceId, caller }: PlaceTaker, limits: SocketLimits): Share[] {
  const { kind, id } = caller;
  const [ofOne, onOneRun] = {
    member: [limits.perMember, limits.perMemberAndRun] as const,
    address: [limits.perAddress, limits.perAddressAndRun] as const,
  }[kind];
  return [
    {
      key: `${kind} ${id} ${runId ?? workspaceId}`,
      limit: onOneRun,
      whose: `One ${kind} has on one ${runId === undefined ? 'workspace' : 'run'}`,
    },
    { key: `${kind} ${id}`, limit: ofOne, whose: `One ${kind} has` },
    ...(runId === undefined
      ? []
      : [{ key: `r ${runId}`, limit: limits.perRun, whose: 'One run has' }]),
    { key: `w ${workspaceId}`, limit: limits.perWorkspace, whose: 'One workspace has' },
    { key: 'all', limit: limits.perProcess, whose: 'This process has' },
  ];
}
