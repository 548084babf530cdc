import type { CaughtError, ErrorKind } from '#shared/graph/caught-error.ts';
import type { ControlStep } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import type { Clock } from './clock.ts';
import type { PlayedStep } from './played-run.ts';

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
}

export function createStepBook(clock: Clock): StepBook {
  const steps = new Map<string, PlayedStep>();

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
    control: ({ step_key, node_id, label, kind, iteration, status, output, error, caught }) => {
      const known = steps.get(step_key);
      if (known === undefined || status === 'running') {
        begin({ step_key, node_id, label, kind, iteration }, 'running');
      }
      if (status === 'running') return;
      if (status !== 'failed') {
        end(step_key, status, output ?? null);
        return;
      }
      const errorKind: ErrorKind = caught?.kind ?? 'node';
      fail(step_key, { message: error ?? 'failed', kind: errorKind });
      if (caught !== undefined) steps.get(step_key)!.caught = true;
    },
    find: (stepKey) => steps.get(stepKey),
    close: () => {
      for (const { step_key, status } of steps.values()) {
        if (status === 'running' || status === 'paused') end(step_key, 'cancelled');
      }
    },
    get steps() {
      return [...steps.values()];
    },
  };
}

/** The fields of a step that has not ended. */
const open = () => ({ output: null, error: null, finished_at: null, duration_ms: null });
