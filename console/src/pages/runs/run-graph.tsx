import { Skeleton } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { Graph, Run, Step } from '#client/index.ts';
import type { EdgeCondition } from '#shared/contract/workflows/graph.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { type CardOf, GraphView } from '#console/src/graph/graph-view.tsx';
import type { NodeCardData } from '#console/src/graph/node-card.tsx';
import { runGraph as text } from '#console/src/messages/en/runs/run.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { stateColours } from '#console/src/theme.ts';
import { nodeStates, type NodeStates, iterationMark, iterationText } from './node-states.ts';
import { hasEnded } from './run-facts.ts';
import { nodeKeyOf } from './steps/agent-steps.ts';
import { shownState } from './steps/step-state.ts';
import { useRunGraph } from './use-run-graph.ts';
import type { Selection } from './use-selection.ts';

interface RunGraphProps {
  run: Run;
  /** The selected step, if it has started. */
  chosen: Step | undefined;
  selection: Selection;
  height: string;
}

/** The graph of the run's version or draft, with the progress of the run. */
export function RunGraph(props: RunGraphProps) {
  const { graph, drawing, error, refetch } = useRunGraph(props.run);
  if (graph !== undefined && drawing !== undefined) {
    return <LiveGraph graph={graph} drawing={drawing} {...props} />;
  }
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return <Skeleton h={props.height} />;
}

function LiveGraph({
  graph,
  drawing,
  run,
  chosen: selected,
  selection: { step, select },
  height,
}: RunGraphProps & { graph: Graph; drawing: Drawing }) {
  // For a turn or call, the graph shows the agent.
  const chosen = selected && run.steps.find(({ step_key }) => step_key === nodeKeyOf(selected));
  const states = useMemo(() => nodeStates(run, drawing), [run, drawing]);
  const ended = hasEnded(run);
  const [cards] = useState(createCards);
  const cardOf = useCallback<CardOf>(
    (nodeId) => cards(nodeId, states, { chosen, ended }),
    [cards, states, chosen, ended],
  );
  const takenEdge = useCallback(
    (source: string, target: string, conditionValue: EdgeCondition | undefined) =>
      states.taken({ source, target, conditionValue }),
    [states],
  );
  const onSelect = useCallback(
    (nodeId: string | undefined) =>
      select(nodeId === undefined ? undefined : (states.latestOf(nodeId)?.step_key ?? nodeId)),
    [select, states],
  );
  return (
    <GraphView
      graph={graph}
      cardOf={cardOf}
      takenEdge={takenEdge}
      selected={chosen?.node_id ?? step}
      onSelect={onSelect}
      height={height}
      openingZoom={MAP_ZOOM}
    />
  );
}

/** In a map, the overall shape matters more than the texts, which are in the tree below. */
const MAP_ZOOM = 0.35;

const notReached: Partial<NodeCardData> = { faded: true, spoken: text.notReached };
const toCome: Partial<NodeCardData> = { spoken: text.notReachedYet };

/** Caches cards by node: a node without changes keeps the same card object and is not rendered again. */
function createCards() {
  const made = new Map<string, { what: string; card: Partial<NodeCardData> }>();
  return (
    nodeId: string,
    states: NodeStates,
    { chosen, ended }: { chosen: Step | undefined; ended: boolean },
  ): Partial<NodeCardData> => {
    const step = chosen?.node_id === nodeId ? chosen : states.latestOf(nodeId);
    if (step === undefined) return ended ? notReached : toCome;
    const count = states.stepsOf(nodeId).length;
    const iterations = states.iterationsOf(nodeId);
    const detail = detailOf(iterationMark(step), count, iterations);
    const spoken = detailOf(iterationText(step), count, iterations);
    const state = shownState(step);
    const what = `${state} ${detail ?? ''}`;
    const known = made.get(nodeId);
    if (known?.what === what) return known.card;
    const card: Partial<NodeCardData> = {
      colour: state === 'skipped' ? undefined : stateColours[state],
      faded: state === 'skipped',
      mark: <StateBadge state={state} size="xs" />,
      detail,
      spoken: [statuses[state], spoken].filter(Boolean).join(', '),
    };
    made.set(nodeId, { what, card });
    return card;
  };
}

/** `#3`, or `#2 of 3` if the node has several steps. For a loop, the number of started iterations. */
function detailOf(
  iteration: string | undefined,
  count: number,
  iterations: number | undefined,
): string | undefined {
  if (iterations !== undefined) {
    return text.iterations(iterations);
  }
  return iteration === undefined || count < 2
    ? iteration
    : text.lastOf(iteration, countText(count));
}
