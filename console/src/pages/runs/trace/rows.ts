import type { Step } from '#client/index.ts';
import type { TreeRow } from '#console/src/parts/data/tree-keys.ts';
import type { TraceNode } from './tree.ts';

export type TraceOrder = 'start' | 'duration' | 'cost';

export interface TraceChoice {
  /** Matches the name, key, model or error, ignoring case. Empty matches all. */
  text: string;
  status: Step['status'] | undefined;
  /** Any order other than by start time gives a flat list. */
  order: TraceOrder;
}

export const everyRow: TraceChoice = { text: '', status: undefined, order: 'start' };

export interface TraceRow extends TreeRow {
  node: TraceNode;
  /** Its position among its siblings, from 1, and their number. */
  place: number;
  of: number;
}

/** The rows to show. With a filter, each match is shown within its parent rows, which are opened. */
export function traceRows(
  roots: readonly TraceNode[],
  choice: TraceChoice,
  isOpen: (node: TraceNode) => boolean,
): TraceRow[] {
  if (choice.order !== 'start') {
    const found = sorted(matchesOf(roots, choice), choice.order);
    const of = found.length;
    return found.map((node, at) => ({ node, level: 1, open: undefined, place: at + 1, of }));
  }
  if (!filters(choice)) return unfolded(roots, 1, isOpen);
  const kept = new Set<TraceNode>();
  const keep = (node: TraceNode): boolean => {
    const within = node.children.map(keep).some(Boolean);
    if (within || matches(node, choice)) kept.add(node);
    return kept.has(node);
  };
  roots.forEach(keep);
  return unfolded(roots, 1, () => true, kept);
}

function unfolded(
  nodes: readonly TraceNode[],
  level: number,
  isOpen: (node: TraceNode) => boolean,
  kept?: ReadonlySet<TraceNode>,
): TraceRow[] {
  const shown = kept === undefined ? nodes : nodes.filter((node) => kept.has(node));
  return shown.flatMap((node, at) => {
    const inside = kept === undefined ? node.children : node.children.filter((c) => kept.has(c));
    const open = inside.length === 0 ? undefined : isOpen(node);
    const row = { node, level, open, place: at + 1, of: shown.length };
    return open === true ? [row, ...unfolded(inside, level + 1, isOpen, kept)] : [row];
  });
}

const filters = ({ text, status }: TraceChoice): boolean =>
  text.trim() !== '' || status !== undefined;

/** The steps that match, in the order of the tree. Without a filter, turns and calls count as part of their agent. */
function matchesOf(roots: readonly TraceNode[], choice: TraceChoice): StepNode[] {
  const steps = allNodes(roots).filter((node) => node.type === 'step');
  return filters(choice)
    ? steps.filter((node) => matches(node, choice))
    : steps.filter(({ step }) => step.parent_step_key === undefined);
}

export type StepNode = TraceNode & { type: 'step' };

/** How many steps match. */
export const matchCount = (roots: readonly TraceNode[], choice: TraceChoice): number =>
  allNodes(roots).filter((node) => node.type === 'step' && matches(node, choice)).length;

function matches(node: TraceNode, { text, status }: TraceChoice): boolean {
  if (node.type !== 'step') return false;
  const { step } = node;
  if (status !== undefined && step.status !== status) return false;
  const wanted = text.trim().toLowerCase();
  const errors = step.attempts.map(({ error }) => error);
  return [step.label, step.step_key, step.model, step.error, ...errors].some(
    (each) => each?.toLowerCase().includes(wanted) === true,
  );
}

function sorted(nodes: readonly StepNode[], order: 'duration' | 'cost'): StepNode[] {
  const valueOf = ({ step }: StepNode): number =>
    // An open step may become the longest one.
    order === 'cost' ? step.cost_usd : (step.duration_ms ?? Number.MAX_VALUE);
  return nodes.toSorted((a, b) => valueOf(b) - valueOf(a));
}

/** All nodes of the tree, each before those inside it. */
export const allNodes = (nodes: readonly TraceNode[]): TraceNode[] =>
  nodes.flatMap((node) => [node, ...allNodes(node.children)]);

/** The ids of the rows around a row, outermost first; undefined if the tree does not have it. */
export function pathTo(nodes: readonly TraceNode[], id: string): string[] | undefined {
  for (const node of nodes) {
    if (node.id === id) return [];
    const within = pathTo(node.children, id);
    if (within !== undefined) return [node.id, ...within];
  }
  return undefined;
}

/** Steps that failed themselves, and not because of an inner step, in the order of the tree. */
export const failedSteps = (roots: readonly TraceNode[]): StepNode[] =>
  allNodes(roots).filter(
    (node): node is StepNode =>
      node.type === 'step' && node.step.status === 'failed' && !hasFailed(node.children),
  );

const hasFailed = (nodes: readonly TraceNode[]): boolean =>
  nodes.some(
    (node) => (node.type === 'step' && node.step.status === 'failed') || hasFailed(node.children),
  );
