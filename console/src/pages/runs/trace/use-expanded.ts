import { useCallback, useMemo, useState } from 'react';
import type { TraceNode } from './tree.ts';

/** A row with more rows than this is initially closed, so that what follows it stays close. */
const FEW = 20;

export interface Expanded {
  isOpen: (node: TraceNode) => boolean;
  set: (ids: readonly string[], open: boolean) => void;
}

/**
 * Which rows are open. Rows that the user has not opened or closed keep their initial state: a map does not close
 * because it gets another item.
 */
export function useExpanded(): Expanded {
  const [first] = useState(() => new Map<string, boolean>());
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = useCallback(
    ({ id, children }: TraceNode): boolean => {
      const own = chosen.get(id);
      if (own !== undefined) return own;
      const known = first.get(id) ?? children.length <= FEW;
      if (children.length > 0) first.set(id, known);
      return known;
    },
    [chosen, first],
  );
  const set = useCallback(
    (ids: readonly string[], open: boolean) =>
      setChosen((before) => new Map([...before, ...ids.map((id) => [id, open] as const)])),
    [],
  );
  return useMemo(() => ({ isOpen, set }), [isOpen, set]);
}
