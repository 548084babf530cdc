import type { Run, RunStatus, Step } from '#client/index.ts';
import { plural } from '#console/src/messages/format.ts';

/** The statuses of runs and steps, within a line of text. `rejected` is a gate. */
export const statuses = {
  pending: 'pending',
  running: 'running',
  paused: 'paused',
  success: 'success',
  failed: 'failed',
  rejected: 'rejected',
  skipped: 'skipped',
  cancelled: 'cancelled',
  unrecorded: 'unrecorded',
  overBudget: 'stopped by budget',
  queued: 'queued',
} as const satisfies Record<
  RunStatus | Step['status'] | 'rejected' | 'overBudget' | 'queued',
  string
>;

/**
 * The times of a run, everywhere. Waiting: it waited for people and did nothing else. Working: all other time. Total: both.
 */
export const runTimes = { total: 'Total', working: 'Working', waiting: 'Waiting' } as const;

/** What starts runs. */
export const triggers = {
  manual: 'manual',
  webhook: 'webhook',
  mcp: 'mcp',
  schedule: 'schedule',
  event: 'event',
  workflow: 'workflow',
} as const satisfies Record<Run['trigger'], string>;

/** Why runs fail. */
export const failureKinds = {
  node: 'node',
  budget: 'budget',
  cancelled: 'cancelled',
  rejected: 'rejected',
  crash: 'crash',
  unrecorded: 'unrecorded',
} as const satisfies Record<NonNullable<Run['failure']>['kind'], string>;

/** How attempts end. */
export const outcomes = {
  success: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
} as const satisfies Record<NonNullable<Step['attempts'][number]['outcome']>, string>;

/** What policies decide about a step. */
export const verdicts = {
  blocked: 'blocked',
  denied: 'denied',
  redacted: 'redacted',
  granted: 'granted',
} as const satisfies Record<Step['policy'][number]['decision'], string>;

/** A cost that does not contain all steps. */
export const costs = {
  atLeast: (dollars: string) => `≥ ${dollars}`,
  withUnpriced: (cost: string, steps: string) => `${cost} · ${steps}`,
  unpriced: (steps: number, count: string) =>
    plural(steps, {
      one: `${count} step without a price`,
      other: `${count} steps without a price`,
    }),
} as const;

/** A lower and an upper bound. */
export const ranges = {
  orMore: (least: string) => `${least} or more`,
  between: (least: string, most: string) => `${least} to ${most}`,
} as const;
