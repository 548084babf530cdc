import { useMemo, useState } from 'react';
import type { Graph, Run, Step } from '#client/index.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';
import type { NodeCardData } from '#console/src/graph/node-card.tsx';
import { runCards as text } from '#console/src/messages/en/workflows/editor.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { edgeNotes, type NoteOf } from '#console/src/pages/runs/edge-notes.ts';
import { itemsOf } from '#console/src/pages/runs/items.ts';
import { stepsByNode } from '#console/src/pages/runs/node-states.ts';
import { aggregateOf, stateCard } from '#console/src/pages/runs/steps/state-card.tsx';

/** What the last run shows about a node. It stays the same object until that changes. */
export type RunCards = (nodeId: string) => Partial<NodeCardData> | undefined;

/** The state and the cost of each node in the run, and what went along its edges. */
export function useRunCards(run: Run | undefined): { cards: RunCards; noteOf: NoteOf } {
  const [known] = useState(() => new Map<string, { what: string; card: Partial<NodeCardData> }>());
  return useMemo(() => {
    if (run === undefined) return { cards: NOTHING, noteOf: NOTHING };
    const { stepsOf } = stepsByNode(run.steps);
    const drawing = run.graph && drawingOf(run.graph as unknown as Graph);
    const items = itemsOf(run, drawing);
    const cards: RunCards = (nodeId) => {
      const steps = stepsOf(nodeId);
      if (steps.length === 0) return undefined;
      const tally = items.ofNode(nodeId);
      const card = stateCard(aggregateOf(steps), { tally, detail: detailOf(steps) });
      const what = JSON.stringify([card.colour, card.spoken, card.failedShare]);
      const before = known.get(nodeId);
      if (before?.what === what) return before.card;
      known.set(nodeId, { what, card });
      return card;
    };
    const noteOf = drawing && edgeNotes(drawing, items, stepsOf);
    return { cards, noteOf: noteOf ?? NOTHING };
  }, [run, known]);
}

const NOTHING = (): undefined => undefined;

/** How often a node was executed, and the cost. */
function detailOf(steps: readonly Step[]): string | undefined {
  const cost = steps.reduce((sum, { cost_usd: usd }) => sum + usd, 0);
  const parts = [
    ...(steps.length > 1 ? [text.times(steps.length)] : []),
    ...(cost > 0 ? [dollarsText(cost)] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
