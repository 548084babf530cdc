import { useMemo, useState } from 'react';
import type { Run, Step } from '#client/index.ts';
import type { NodeCardData } from '#console/src/graph/node-card.tsx';
import { runCards as text } from '#console/src/messages/en/workflows/editor.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { stateColours } from '#console/src/theme.ts';
import { stepsByNode } from '#console/src/pages/runs/node-states.ts';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';

/** What the last run shows about a node. It stays the same object until that changes. */
export type RunCards = (nodeId: string) => Partial<NodeCardData> | undefined;

/** The state and the cost of each node in the run. */
export function useRunCards(run: Run | undefined): RunCards {
  const [known] = useState(() => new Map<string, { what: string; card: Partial<NodeCardData> }>());
  return useMemo(() => {
    if (run === undefined) return () => undefined;
    const { stepsOf } = stepsByNode(run.steps);
    return (nodeId: string) => {
      const steps = stepsOf(nodeId);
      const latest = steps.at(-1);
      if (latest === undefined) return undefined;
      const state = shownState(latest);
      const detail = detailOf(steps);
      const what = `${state} ${detail ?? ''}`;
      const before = known.get(nodeId);
      if (before?.what === what) return before.card;
      const card: Partial<NodeCardData> = {
        colour: state === 'skipped' ? undefined : stateColours[state],
        mark: <StateBadge state={state} size="xs" />,
        detail,
        spoken: [statuses[state], ...(detail === undefined ? [] : [detail])].join(', '),
      };
      known.set(nodeId, { what, card });
      return card;
    };
  }, [run, known]);
}

/** How often a node was executed, and the cost. */
function detailOf(steps: readonly Step[]): string | undefined {
  const cost = steps.reduce((sum, { cost_usd: usd }) => sum + usd, 0);
  const parts = [
    ...(steps.length > 1 ? [text.times(steps.length)] : []),
    ...(cost > 0 ? [dollarsText(cost)] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
