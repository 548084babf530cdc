import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Run } from '#client/index.ts';
import { useWindowed } from '#console/src/parts/data/windowed.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import { hasEnded } from '#console/src/pages/runs/run-facts.ts';
import type { Items } from '#console/src/pages/runs/items.ts';
import { axisOf } from '#console/src/pages/runs/timeline/time-axis.ts';
import { timelineOf } from '#console/src/pages/runs/timeline/timeline.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { barsOf } from './bars.ts';
import { allNodes, everyRow, failedSteps, pathTo, type TraceRow, traceRows } from './rows.ts';
import { traceTree, type TraceNode } from './tree.ts';
import { useExpanded } from './use-expanded.ts';

export const ROW_HEIGHT = 32;
const HEAD_HEIGHT = 30;
const FILTER_DELAY_MS = 120;

/** The step that a row belongs to; undefined for an iteration. */
export const stepKeyOf = (node: TraceNode | undefined): string | undefined =>
  node === undefined || node.type === 'iteration' ? undefined : node.step.step_key;

/** The rows of the trace, the active row of the keyboard, and the filters. */
export function useTrace({
  run,
  items,
  chosen,
  select,
}: {
  run: Run;
  items: Items;
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
}) {
  const tree = useMemo(() => traceTree(run.steps, items), [run.steps, items]);
  const [choice, setChoice] = useState(everyRow);
  const [text] = useDebouncedValue(choice.text, FILTER_DELAY_MS);
  const expanded = useExpanded();
  const rows = useMemo(
    () => traceRows(tree, { ...choice, text }, expanded.isOpen),
    [tree, choice, text, expanded.isOpen],
  );
  const picking = useActiveRow({ tree, rows, expanded, chosen });
  useStepKeys({ tree, rows, chosen, select, ...picking });
  return { tree, rows, choice, setChoice, text, expanded, ...picking };
}

/** The times of the run, until now while it is active. */
export function useBars(run: Run) {
  const now = useMoment(!hasEnded(run));
  const timeline = useMemo(() => timelineOf(run, now), [run, now]);
  const bars = useMemo(() => barsOf(timeline), [timeline]);
  const axis = useMemo(() => axisOf(timeline), [timeline]);
  return { bars, axis };
}

/** The active row follows the selection, which opens its parent rows and scrolls it into view. */
function useActiveRow({
  tree,
  rows,
  expanded,
  chosen,
}: {
  tree: readonly TraceNode[];
  rows: readonly TraceRow[];
  expanded: ReturnType<typeof useExpanded>;
  chosen: string | undefined;
}) {
  const windowed = useWindowed(rows.length, ROW_HEIGHT, HEAD_HEIGHT);
  const [activeId, setActiveId] = useState<string>();
  const found = useMemo(() => rows.findIndex(({ node }) => node.id === activeId), [rows, activeId]);
  const active = found === -1 ? undefined : found;
  const shown = useRef<string>(undefined);

  useEffect(() => {
    if (chosen === undefined || stepKeyOf(rows[active ?? -1]?.node) === chosen) return;
    const path = pathTo(tree, chosen);
    if (path === undefined) return;
    if (path.length > 0) expanded.set(path, true);
    setActiveId(chosen);
    shown.current = chosen;
    // Only when the selection changes, because new rows must not move the active one.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [chosen]);
  useEffect(() => {
    if (active === undefined || shown.current !== activeId) return;
    shown.current = undefined;
    windowed.scrollTo(active);
    // As soon as the parents of the selected row are open.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [active, activeId]);

  const activate = (row: number): void => {
    setActiveId(rows[row]?.node.id);
    windowed.scrollTo(row);
  };
  return { windowed, active, activate };
}

/** `j` and `k` select the next and previous step, `f` the next failed one. */
function useStepKeys({
  tree,
  rows,
  active,
  activate,
  chosen,
  select,
}: {
  tree: readonly TraceNode[];
  rows: readonly TraceRow[];
  active: number | undefined;
  activate: (row: number) => void;
  chosen: string | undefined;
  select: Selection['select'];
}): void {
  const isStep = ({ node }: TraceRow): boolean => node.type === 'step';
  const go = (row: number): void => {
    if (rows[row] === undefined) return;
    activate(row);
    select(stepKeyOf(rows[row].node));
  };
  useShortcuts({
    j: () => go(rows.findIndex((row, at) => at > (active ?? -1) && isStep(row))),
    k: () => go(rows.findLastIndex((row, at) => at < (active ?? rows.length) && isStep(row))),
    f: () => {
      const order = allNodes(tree).map(({ id }) => id);
      const failed = failedSteps(tree).map(({ id }) => id);
      const here = order.indexOf(rows[active ?? -1]?.node.id ?? chosen ?? '');
      const next = failed.find((id) => order.indexOf(id) > here) ?? failed[0];
      if (next !== undefined) select(next);
    },
  });
}
