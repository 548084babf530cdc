import { useState } from 'react';
import type { ListedRun } from '#client/index.ts';

export interface Selection {
  /** The runs as they were when they were selected. */
  runs: readonly ListedRun[];
  has: (id: string) => boolean;
  allOf: (runs: readonly ListedRun[]) => boolean;
  setAll: (runs: readonly ListedRun[]) => void;
  /** With a `range`, also toggles all runs in it from the one that was clicked before. */
  toggle: (run: ListedRun, range: readonly ListedRun[]) => void;
}

/** The selected runs. The selection survives reads of the list. */
export function useSelectedRuns(): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, ListedRun>>(new Map());
  const [last, setLast] = useState<string>();
  const toggle: Selection['toggle'] = (run, range) => {
    const on = !selected.has(run.id);
    const next = new Map(selected);
    for (const each of [...between(range, last, run.id), run]) {
      if (on) next.set(each.id, each);
      else next.delete(each.id);
    }
    setSelected(next);
    setLast(run.id);
  };
  return {
    runs: [...selected.values()],
    has: (id) => selected.has(id),
    allOf: (runs) => runs.length > 0 && runs.every(({ id }) => selected.has(id)),
    setAll: (runs) => setSelected(new Map(runs.map((run) => [run.id, run]))),
    toggle,
  };
}

function between(
  runs: readonly ListedRun[],
  first: string | undefined,
  second: string,
): readonly ListedRun[] {
  const [from = -1, to = -1] = [first, second]
    .map((id) => runs.findIndex((run) => run.id === id))
    .sort((a, b) => a - b);
  return from < 0 ? [] : runs.slice(from, to + 1);
}
