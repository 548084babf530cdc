import {
  type Icon,
  IconExternalLink,
  IconMessage,
  IconPlayerTrackNext,
  IconRepeat,
} from '@tabler/icons-react';
import type { Step } from '#client/index.ts';
import { kindIcons } from '#console/src/graph/kinds.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { traceRow as text } from '#console/src/messages/en/runs/trace.ts';
import { tallies } from '#console/src/messages/en/runs/steps.ts';
import { outcomes as outcomeNames } from '#console/src/messages/en/parts/values.ts';
import { iterationMark } from '#console/src/pages/runs/node-states.ts';
import { listedName } from '#console/src/pages/runs/steps/agent-steps.ts';
import { type ShownState, shownState } from '#console/src/pages/runs/steps/step-state.ts';
import type { StepNode } from './rows.ts';
import { sumsOf, tokensOf, type TraceNode } from './tree.ts';

/** The contents of a row's cells; undefined where a row has nothing to show. */
export interface RowTexts {
  icon: Icon;
  /** The kind in words, for screen readers and as a hint. */
  kind: string;
  name: string;
  note: string | undefined;
  /** Number of failed items or iterations in a map or loop. */
  failedItems: number;
  /** The error, if the row is an attempt. */
  error: string | undefined;
  status: ShownState | undefined;
  ms: number | undefined;
  cost: number | undefined;
  unpriced: boolean;
  tokens: number | undefined;
  /** The child run that the row leads to. */
  runId: string | undefined;
}

const nothing = {
  note: undefined,
  failedItems: 0,
  error: undefined,
  status: undefined,
  ms: undefined,
  cost: undefined,
  unpriced: false,
  tokens: undefined,
  runId: undefined,
};

const outcomes: Record<NonNullable<Step['attempts'][number]['outcome']>, ShownState> = {
  success: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
};

export function rowTexts(node: TraceNode): RowTexts {
  switch (node.type) {
    case 'step':
      return stepTexts(node);
    case 'iteration': {
      const { cost, tokens, status, from, to } = sumsOf(node);
      const what = node.loop.kind === 'map' ? 'item' : 'iteration';
      return {
        ...nothing,
        icon: IconPlayerTrackNext,
        kind: text.kinds[what],
        name: text[what](node.iteration),
        status,
        cost,
        tokens: tokens || undefined,
        ms: to === undefined ? undefined : to - from,
      };
    }
    case 'attempt': {
      const { attempt, outcome, duration_ms: ms, cost_usd: cost, error } = node.attempt;
      return {
        ...nothing,
        icon: IconRepeat,
        kind: text.kinds.attempt,
        name: text.attempt(attempt),
        cost,
        note: outcome === 'interrupted' ? outcomeNames.interrupted : undefined,
        ms: ms ?? undefined,
        status: outcome === null ? 'running' : outcomes[outcome],
        error: error ?? undefined,
      };
    }
    case 'child':
      return {
        ...nothing,
        icon: IconExternalLink,
        kind: text.kinds.child,
        name: text.child,
        runId: node.runId,
        ...(node.step.paused_child === true && { status: 'paused' as const }),
      };
  }
}

function stepTexts(node: StepNode): RowTexts {
  const { step, tally } = node;
  const { turn, tool_call: call, kind, duration_ms: ms, cost_usd: cost, unpriced } = step;
  const isTurn = turn !== undefined && call === undefined;
  return {
    ...nothing,
    icon: isTurn ? IconMessage : kindIcons[kind],
    kind: isTurn ? text.kinds.turn : kindNames[kind],
    name: listedName(step),
    note: noteOf(node),
    failedItems: tally?.failed ?? 0,
    status: shownState(step),
    ms: ms ?? undefined,
    cost,
    unpriced: unpriced === true,
    tokens: tokensOf(step) || undefined,
  };
}

/** What distinguishes a step from others of its node, and what is unusual about it. */
function noteOf({ step, children: inside, tally, caught }: StepNode): string | undefined {
  const of = (type: TraceNode['type']): number =>
    inside.filter((node) => node.type === type).length;
  const turns = inside.filter(
    (node) => node.type === 'step' && node.step.parent_step_key === step.step_key,
  ).length;
  const notes = [
    iterationMark(step),
    counted(turns, text.turns),
    tally !== undefined && tallies[tally.of](tally.total),
    counted(of('attempt'), text.attempts),
    step.reused_from !== undefined && text.reused,
    caught && text.caught,
  ];
  return notes.filter(Boolean).join(', ') || undefined;
}

const counted = (count: number, textOf: (count: number) => string): string | false =>
  count > 0 && textOf(count);
