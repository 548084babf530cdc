import type { Run } from '#shared/contract/runs/run.ts';
import type { Step } from '#shared/contract/steps/step.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** What the service and `play` both say about a step. */
export type PlayedStep = Pick<Step, 'step_key' | 'node_id' | 'kind' | 'status' | 'attempt'> &
  Partial<Pick<Step, 'output' | 'error' | 'error_kind' | 'caught' | 'input' | 'iteration'>> &
  Partial<Pick<Step, 'label' | 'parent_step_key' | 'turn' | 'tool_call'>> & {
    decision?: Pick<NonNullable<Step['decision']>, 'approved' | 'timed_out' | 'reason'>;
    attempts: readonly { outcome: string | null; error: string | null }[];
  };

/** What the service and `play` both say about a run. */
export interface Played {
  status: Run['status'];
  output: Json;
  state: JsonObject | null;
  error: string | null;
  failure: { kind: string; node_id?: string } | null;
  steps: readonly PlayedStep[];
}

/** What is the same wherever a graph runs. */
const fields = [
  ...(['step_key', 'node_id', 'label', 'kind', 'iteration', 'status', 'attempt'] as const),
  ...(['input', 'output', 'error', 'error_kind', 'caught'] as const),
  ...(['parent_step_key', 'turn', 'tool_call'] as const),
] as const;

export type PlayedField = (typeof fields)[number] | 'decision' | 'attempts';

/** A step with what is the same on the service and in the process. */
export function comparableStep(step: PlayedStep): Record<PlayedField, Json> {
  const { decision } = step;
  // A worker that is busy or stops gives up an attempt, which uses up no retry.
  const attempts = step.attempts.filter(({ outcome }) => outcome !== 'interrupted');
  const interrupted = step.attempts.length - attempts.length;
  const plain = Object.fromEntries(
    fields.map((field) => [field, comparable((step[field] ?? null) as Json)]),
  );
  return {
    ...(plain as Record<PlayedField, Json>),
    attempt: step.attempt - interrupted,
    decision:
      decision === undefined
        ? null
        : {
            approved: decision.approved,
            timed_out: decision.timed_out ?? null,
            reason: decision.reason,
          },
    attempts: attempts.map(({ outcome, error }) => ({ outcome, error: comparable(error) })),
  };
}

/** A run with what is the same on the service and in the process. Its steps are in the order of their keys. */
export function comparableRun(run: Played): JsonObject {
  const { status, error, failure } = run;
  const steps = [...run.steps]
    .sort((a, b) => (a.step_key < b.step_key ? -1 : 1))
    .map(comparableStep);
  const ended = { output: comparable(run.output), state: comparable(run.state) };
  return { ...{ status, error, ...ended, steps }, failure: failure && { ...failure } };
}

/** In the process, no member decides, and addresses of callbacks and headers of responses are others. */
export function comparable(value: Json): Json {
  if (typeof value === 'string') {
    return value
      .replaceAll('Rejected by Owner', 'Rejected by an API key')
      .replace(/https?:\/\/[^"\s]+\/api\/callbacks\/[^"\s]+/g, 'address of the callback');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'headers')
      .map(([key, part]) => [key, comparable(part)]),
  );
}
