import { notifications } from '@mantine/notifications';
import { useEffect, useRef } from 'react';
import type { Approval } from '../../../../client/index.ts';

export const gateKey = ({ run_id, step_key, since }: Approval): string =>
  `${run_id} ${step_key} ${since}`;

/**
 * Says when a gate is gone from the list that nobody here decided. Returns the keys of those that were decided here, to
 * be added to.
 */
export function useVanishedNotices(waiting: readonly Approval[] | undefined): Set<string> {
  const own = useRef(new Set<string>()).current;
  const before = useRef<readonly Approval[]>([]);
  useEffect(() => {
    if (waiting === undefined) return;
    const now = new Set(waiting.map(gateKey));
    const gone = before.current.filter(
      (gate) => !now.has(gateKey(gate)) && !own.has(gateKey(gate)),
    );
    before.current = waiting;
    const [first, ...others] = gone;
    if (first === undefined) return;
    notifications.show({
      color: 'gray',
      title: others.length === 0 ? first.label : `${gone.length} gates`,
      message: 'No longer waiting. Someone else decided, or the run ended.',
    });
  }, [waiting, own]);
  return own;
}
