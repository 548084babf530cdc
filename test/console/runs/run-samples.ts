import type { Run, RunEvent, Step } from '#client/index.ts';

/** Times of a sample run: its creation, and milliseconds after it. */
export const BEGIN = Date.parse('2026-03-01T10:00:00.000Z');
export const at = (ms: number): string => new Date(BEGIN + ms).toISOString();

/** A successful step of an agent; `more` overrides fields. */
export function step(more: Partial<Step> & { node_id: string }): Step {
  const iteration = more.iteration ?? [];
  const key = iteration.length === 0 ? more.node_id : `${more.node_id}#${iteration.join('.')}`;
  return {
    step_key: key,
    label: more.node_id,
    kind: 'agent',
    iteration,
    attempt: 1,
    status: 'success',
    started_at: at(0),
    finished_at: at(100),
    duration_ms: 100,
    queued_ms: 0,
    retried_ms: 0,
    attempts: [],
    cost_usd: 0,
    input: null,
    output: null,
    error: null,
    policy: [],
    ...more,
  };
}

/** The fields of a run that the functions under test read. */
export type RunPart = Pick<
  Run,
  'created_at' | 'finished_at' | 'status' | 'steps' | 'failure' | 'pending_gates'
>;

export const run = (steps: Step[], more: Partial<RunPart> = {}): RunPart => ({
  created_at: at(0),
  finished_at: null,
  status: 'running',
  failure: null,
  pending_gates: [],
  steps,
  ...more,
});

export const event = (seq: number, ms: number, frame: Record<string, unknown>): RunEvent => ({
  seq,
  at: at(ms),
  frame: { run_id: 'run_1', ...frame } as RunEvent['frame'],
});
