import { exactly } from '#shared/graph/dry-run/bounds.ts';
import { type Examined, NOTHING } from '#shared/graph/dry-run/examined.ts';
import { examine } from '#shared/graph/dry-run/examine.ts';
import { type Flow, walk } from '#shared/graph/dry-run/flow.ts';
import { readNode } from '#shared/graph/dry-run/texts.ts';
import { createKnowledge, type Knowledge } from '#shared/graph/dry-run/knowledge.ts';
import { type Layout, layoutOf } from '#shared/graph/dry-run/layout.ts';
import type { Facts } from '#shared/graph/dry-run/plan.ts';
import { type Compute, computeStep, withPureSteps } from '#shared/graph/dry-run/pure-steps.ts';
import { outputKey } from '#shared/graph/compile.ts';
import { isWaiting } from '#shared/graph/kinds.ts';
import { isOutranked, type RunState, stateOf } from '#shared/graph/schedule/run-state.ts';
import { stepKeyIn } from '#shared/graph/schedule/step-key.ts';
import { isItemCaught } from '#shared/graph/schedule/settle.ts';
import { asksAt, mayAsk } from './asking.ts';
import { knowledgeWithin } from './around.ts';
import type { DigestOf } from './many-items.ts';
import { type RestOfGraph, restOf } from './rest.ts';

/** `digestOf`: of the items of maps that are not listed one by one. */
export type KnownFacts = Facts & { digestOf?: DigestOf };

/** The rest of a scope, and what can happen in it. */
export interface Walked {
  facts: KnownFacts;
  rest: RestOfGraph;
  /** Of the rest, and of the whole graph. */
  layout: Layout;
  whole: Layout;
  run: RunState;
  /** Keys with values that are not known: too large ones, and that of a gate with an error, which contains the reason. */
  hidden: ReadonlySet<string>;
  /** The steps that wait for other decisions. */
  asking: ReadonlySet<string>;
  /** Up to the next decisions; and beyond them. */
  free: Flow;
  all: Flow;
  knowledge: Knowledge;
  /** For pure steps of the rest. */
  compute: Compute;
}

/** `isOpen`: whether a node that is ready or running had begun before. */
export function walkRest(
  facts: KnownFacts,
  { run, whole, hidden, asking }: Pick<Walked, 'run' | 'whole' | 'hidden' | 'asking'>,
  isOpen: (node: number) => boolean,
): Walked | undefined {
  const rest = restOf(run, isOpen);
  if (rest.nodes.length === 0) return undefined;
  const layout = layoutOf(rest, isItemCaught(run));
  rest.places.forEach(({ node }, at) => {
    // Also edges that lead back, which the present iterations do not have.
    layout.hasErrorEdge[at] ||= whole.hasErrorEdge[node]!;
    layout.isCaught[at] ||= whole.hasErrorEdge[node]!;
  });
  const computed = computeStep(facts);
  const compute: Compute = (node, at, reading) =>
    isOutranked(run, rest.places[at]!.node, outputKey(node))
      ? undefined
      : computed(node, at, reading);
  const parts = { facts, rest, layout, whole, run, hidden, asking, compute };
  const { flow: all, knowledge: ofAll } = flowOf(parts);
  const waits = rest.nodes.some((_, at) => waitsAt(parts, ofAll, at) !== 'never');
  const { flow: free, knowledge } = waits ? flowOf(parts, all) : { flow: all, knowledge: ofAll };
  return { ...parts, free, knowledge, all };
}

type Parts = Omit<Walked, 'free' | 'all' | 'knowledge'>;

/** With `all`, which is the flow beyond decisions, it is the flow up to them: what is beyond can still write. */
function flowOf(parts: Parts, all?: Flow): { flow: Flow; knowledge: Knowledge } {
  const { rest, layout, run, whole, hidden, compute } = parts;
  const writes = all?.examined.map((found) => ({
    never: found === undefined,
    bytes: found?.bytes ?? null,
  }));
  let knowledge: Knowledge | undefined;
  const flow = walk(
    layout,
    (left, isDone) => {
      const own = createKnowledge(layout, stateOf(run), writes ?? left, isDone);
      const within = knowledgeWithin(run, whole, { knowledge: own, hidden });
      const known = withPureSteps(within, layout.nodes, compute);
      knowledge = known;
      return (at) => {
        const found = examinedAt(parts, known, at);
        const waits = all === undefined ? 'never' : waitsAt(parts, known, at);
        return waits === 'never' ? found : { ...found, waits };
      };
    },
    {
      isReached: (at) => rest.places[at]!.reached,
      ...(all === undefined ? {} : { beyond: all.examined }),
    },
  );
  return { flow, knowledge: knowledge! };
}

/** Whether a node waits for a decision: it is a gate, asks for approval, or has asked already. */
function waitsAt(
  { facts, rest, layout, asking }: Parts,
  knowledge: Knowledge,
  at: number,
): 'never' | 'maybe' | 'always' {
  const node = layout.nodes[at]!;
  const { open, iteration } = rest.places[at]!;
  if (isWaiting(node)) return 'always';
  if (open && asking.has(stepKeyIn(node.id, iteration))) return 'always';
  if (open) return mayAsk(node) ? 'maybe' : 'never';
  return asksAt(facts, node, readNode(knowledge, at, node));
}

function examinedAt({ facts, rest, layout }: Parts, knowledge: Knowledge, at: number): Examined {
  const node = layout.nodes[at]!;
  const { node: original, open, items, later } = rest.places[at]!;
  if (open) return { ...NOTHING, fails: 'maybe' };
  if (original === later && node.kind === 'loop') {
    return { ...NOTHING, fails: 'maybe', rounds: { min: 0, max: node.max_iterations } };
  }
  if (items !== undefined) return { ...NOTHING, fails: 'never', rounds: exactly(items.length) };
  const found = examine({ ...facts, knowledge, crowded: false }, at, node);
  // A run that fails can be resumed under the same decisions.
  const resumes = found.fails === 'always' && !layout.isCaught[at]!;
  return resumes ? { ...found, fails: 'maybe' } : found;
}
