import { notifications } from '@mantine/notifications';
import { useEffect, useRef } from 'react';
import type { Approval } from '#client/index.ts';
import { inbox as text } from '#console/src/messages/en/approvals.ts';

export const gateKey = ({ run_id, step_key, since }: Approval): string =>
  `${run_id} ${step_key} ${since}`;

/**
 * Shows a notice when a gate leaves the list without a decision made here. Returns the keys of the gates decided here,
 * to which the caller adds.
 */
export function useRemovedNotices(waiting: readonly Approval[] | undefined): Set<string> {
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
      title: others.length === 0 ? first.label : text.goneGates(gone.length),
      message: text.gone,
    });
  }, [waiting, own]);
  return own;
}
