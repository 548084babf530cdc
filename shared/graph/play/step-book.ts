import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { ControlStep } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import type { Clock } from './clock.ts';
import type { PlayedAttempt, PlayedStep } from './played-run.ts';

/** What identifies a step in the record of a run. */
export type StepEntry = Pick<
  PlayedStep,
  'step_key' | 'node_id' | 'label' | 'kind' | 'iteration' | 'parent_step_key' | 'turn' | 'tool_call'
>;

/** The steps of a run, as the service records them. */
export interface StepBook {
  /** Records that a step begins or continues. */
  begin: (entry: StepEntry, status: 'running' | 'paused', input?: Json) => PlayedStep;
  /** Records an attempt that began at `started`, in ms since 1970. */
  attempt: (stepKey: string, started: number, error: string | null) => void;
  succeed: (stepKey: string, output: Json) => void;
  fail: (stepKey: string, error: Pick<CaughtError, 'message' | 'kind'>) => void;
  /** Records a step that the scheduler has computed. */
  control: (step: ControlStep) => void;
  find: (stepKey: string) => PlayedStep | undefined;
  /** Cancels the open steps. */
  close: () => void;
  readonly steps: readonly PlayedStep[];
  /** The steps that have ended, in the order of their ends. */
  readonly ended: readonly PlayedStep[];
}

export function createStepBook(clock: Clock): StepBook {
  const steps = new Map<string, PlayedStep>();
  const ended = new Set<string>();

  function begin(entry: StepEntry, status: PlayedStep['status'], input: Json = null): PlayedStep {
    const known = steps.get(entry.step_key);
    if (known !== undefined) {
      return Object.assign(known, { ...open(), status, input: input ?? known.input });
    }
    const step: PlayedStep = {
      ...entry,
      ...{ status, attempt: 0, attempts: [], started_at: clock.text, input, ...open() },
    };
    steps.set(entry.step_key, step);
    return step;
  }

  function end(stepKey: string, status: PlayedStep['status'], output: Json = null): PlayedStep {
    const step = steps.get(stepKey);
    if (step === undefined) throw new Error(`step ${stepKey} ends before it begins`);
    ended.delete(stepKey);
    ended.add(stepKey);
    const ms = clock.now - Date.parse(step.started_at);
    return Object.assign(step, { status, output, finished_at: clock.text, duration_ms: ms });
  }

  function fail(stepKey: string, error: Pick<CaughtError, 'message' | 'kind'>): void {
    Object.assign(end(stepKey, 'failed'), { error: error.message, error_kind: error.kind });
  }

  return {
    begin,
    attempt: (stepKey, started, error) => {
      const step = steps.get(stepKey)!;
      step.attempt += 1;
      step.attempts.push({
        ...{ attempt: step.attempt, outcome: error === null ? 'success' : 'failed', error },
        ...{ started_at: new Date(started).toISOString(), finished_at: clock.text },
        duration_ms: clock.now - started,
      });
    },
    succeed: (stepKey, output) => void end(stepKey, 'success', output),
    fail,
    control: (step) => recordControl(step, { begin, end, isKnown: steps.has(step.step_key) }),
    find: (stepKey) => steps.get(stepKey),
    close: () => {
      for (const { step_key, status } of steps.values()) {
        if (status === 'running' || status === 'paused') end(step_key, 'cancelled');
      }
    },
    get steps() {
      return [...steps.values()].map(withLastAttempt);
    },
    get ended() {
      return [...ended].map((key) => withLastAttempt(steps.get(key)!));
    },
  };
}

function recordControl(
  { step_key, node_id, label, kind, iteration, status, output, error, caught }: ControlStep,
  {
    begin,
    end,
    isKnown,
  }: {
    begin: StepBook['begin'];
    end: (stepKey: string, status: PlayedStep['status'], output?: Json) => PlayedStep;
    isKnown: boolean;
  },
): void {
  if (!isKnown || status === 'running') {
    begin({ step_key, node_id, label, kind, iteration }, 'running');
  }
  if (status === 'running') return;
  if (status !== 'failed') {
    end(step_key, status, output ?? null);
    return;
  }
  // Like the service, which records the kind of such an error only for error edges.
  const step = Object.assign(end(step_key, 'failed'), { error: error ?? 'failed' });
  if (caught !== undefined) Object.assign(step, { error_kind: caught.kind, caught: true });
}

/** The fields of a step that has not ended. */
const open = () => ({ output: null, error: null, finished_at: null, duration_ms: null });

/** A gate, a wait and what the scheduler computes have one attempt, and an open step has one that has not ended. */
function withLastAttempt(step: PlayedStep): PlayedStep {
  const { status, attempts, decision, kind } = step;
  if (status === 'skipped') return { ...step, attempt: 1 };
  const asks = kind !== 'human_gate' && (status === 'paused' || decision !== undefined);
  const isOpen = status === 'running' || status === 'paused';
  if (asks || (attempts.length > 0 && !isOpen)) return step;
  const attempt = attempts.length + 1;
  const last: PlayedAttempt = {
    ...{ attempt, outcome: isOpen ? null : outcomes[status], error: step.error },
    ...{ started_at: attempts.at(-1)?.finished_at ?? step.started_at },
    ...{ finished_at: step.finished_at, duration_ms: step.duration_ms },
  };
  return { ...step, attempt, attempts: [...attempts, last] };
}

const outcomes = { success: 'success', failed: 'failed', cancelled: 'cancelled' } as const;
