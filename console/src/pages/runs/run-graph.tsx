import { Skeleton } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { Graph, Run, Step } from '#client/index.ts';
import type { EdgeCondition } from '#shared/contract/workflows/graph.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { FindNode } from '#console/src/graph/find-node.tsx';
import { type CardOf, GraphView } from '#console/src/graph/graph-view.tsx';
import type { NodeCardData } from '#console/src/graph/node-card.tsx';
import { runGraph as text } from '#console/src/messages/en/runs/run.ts';
import { tallies } from '#console/src/messages/en/runs/steps.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { edgeNotes } from './edge-notes.ts';
import { nodeStates, type NodeStates, iterationMark, iterationText } from './node-states.ts';
import type { Items } from './items.ts';
import { hasEnded } from './run-facts.ts';
import { nodeKeyOf } from './steps/agent-steps.ts';
import { aggregateOf, stateCard } from './steps/state-card.tsx';
import { useRunGraph } from './use-run-graph.ts';
import type { Selection } from './use-selection.ts';

interface RunGraphProps {
  run: Run;
  items: Items | undefined;
  /** The selected step, if it has started. */
  chosen: Step | undefined;
  selection: Selection;
}

/** The graph of the run's version or draft, with the progress of the run. */
export function RunGraph(props: RunGraphProps) {
  const { graph, drawing, error, refetch } = useRunGraph(props.run);
  const { items } = props;
  if (graph !== undefined && drawing !== undefined && items !== undefined) {
    return <LiveGraph {...props} {...{ graph, drawing, items }} />;
  }
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return <Skeleton className="run-graph" />;
}

function LiveGraph({
  graph,
  drawing,
  run,
  items,
  chosen: selected,
  selection: { step, select },
}: RunGraphProps & { graph: Graph; drawing: Drawing; items: Items }) {
  // For a turn or call, the graph shows the agent.
  const chosen = selected && run.steps.find(({ step_key }) => step_key === nodeKeyOf(selected));
  const parts = useMemo<RunParts>(
    () => ({ states: nodeStates(run, drawing), items }),
    [run, drawing, items],
  );
  const { states } = parts;
  const ended = hasEnded(run);
  const [cards] = useState(createCards);
  const cardOf = useCallback<CardOf>(
    (nodeId) => cards(nodeId, parts, { chosen, ended }),
    [cards, parts, chosen, ended],
  );
  const takenEdge = useCallback(
    (source: string, target: string, conditionValue: EdgeCondition | undefined) =>
      states.taken({ source, target, conditionValue }),
    [states],
  );
  const noteOf = useMemo(() => edgeNotes(drawing, items, states.stepsOf), [drawing, items, states]);
  const onSelect = useCallback(
    (nodeId: string | undefined) => select(nodeId && stepBehind(nodeId, parts)),
    [select, parts],
  );
  const node = { selected: chosen?.node_id ?? step, onSelect };
  return (
    <div className="run-graph">
      {drawing.nodes.length > FEW_NODES && <FindNode nodes={drawing.nodes} {...node} />}
      <GraphView {...{ graph, cardOf, takenEdge, noteOf }} {...node} height="100%" />
    </div>
  );
}

interface RunParts {
  states: NodeStates;
  items: Items;
}

/** What a click on a card shows: the first failed item, if any, otherwise the last step of the node. */
const stepBehind = (nodeId: string, { states, items }: RunParts): string =>
  items.ofNode(nodeId)?.firstFailed ?? states.latestOf(nodeId)?.step_key ?? nodeId;

/** Up to this many nodes, all are in view. */
const FEW_NODES = 20;

const notReached: Partial<NodeCardData> = { faded: true, spoken: text.notReached };
const toCome: Partial<NodeCardData> = { spoken: text.notReachedYet };

/** Caches cards by node: a node without changes keeps the same card object and is not rendered again. */
function createCards() {
  const made = new Map<string, { what: string; card: Partial<NodeCardData> }>();
  return (
    nodeId: string,
    { states, items }: RunParts,
    { chosen, ended }: { chosen: Step | undefined; ended: boolean },
  ): Partial<NodeCardData> => {
    const step = chosen?.node_id === nodeId ? chosen : states.latestOf(nodeId);
    if (step === undefined) return ended ? notReached : toCome;
    const tally = items.ofNode(nodeId);
    const head = repeats(step) && tally !== undefined ? tally : undefined;
    const count = tally?.total ?? states.stepsOf(nodeId).length;
    const whole = head ?? (step === chosen || tally?.of !== 'item' ? undefined : tally);
    const detail = whole ? tallies[whole.of](whole.total) : placeOf(iterationMark(step), count);
    const spoken = whole ? detail : placeOf(iterationText(step), count);
    const card = stateCard(step === chosen ? step : aggregateOf(states.stepsOf(nodeId)), {
      tally,
      detail,
      spoken,
    });
    const what = JSON.stringify([card.colour, card.detail, card.spoken, card.failedShare]);
    const known = made.get(nodeId);
    if (known?.what === what) return known.card;
    made.set(nodeId, { what, card });
    return card;
  };
}

/** `#3`, or `#2 of 3` if the node has several steps. */
const placeOf = (iteration: string | undefined, count: number): string | undefined =>
  iteration === undefined || count < 2 ? iteration : text.lastOf(iteration, countText(count));
