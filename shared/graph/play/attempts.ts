import type { NodeRetry } from '#shared/contract/workflows/node-common.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { timedOut } from '#shared/graph/failure-texts.ts';
import { retryDelayMs } from '#shared/graph/kinds.ts';
import type { Json } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import type { Answer } from './answers.ts';
import type { Playing } from './playing.ts';
import type { StepEntry } from './step-book.ts';

/** The work of a step, and what follows from it. */
export interface Work {
  entry: StepEntry;
  input: Json;
  retry: NodeRetry | undefined;
  /** Of one attempt; undefined: none. */
  timeoutSeconds: number | undefined;
  /** One attempt, from 1. */
  perform: (attempt: number) => Promise<Answer>;
  succeeded: (output: Json) => void;
  failed: (error: CaughtError) => void;
}

/** Starts a step: its attempts follow each other on the clock until one succeeds or the last has failed. */
export function startWork(run: Playing, work: Work): void {
  const { step_key: key } = work.entry;
  run.inFlight.add(key);
  run.book.begin(work.entry, 'running', work.input);
  attemptAt(run, work, { tries: 0, at: run.world.clock.now });
}

function attemptAt(run: Playing, work: Work, { tries, at }: { tries: number; at: number }): void {
  const { clock } = run.world;
  const { step_key: key } = work.entry;
  clock.at(at, async () => {
    if (run.end !== undefined) return;
    const started = clock.now;
    const answer = cutOff(work, await work.perform((run.errors.get(key) ?? 0) + 1));
    clock.at(started + answer.seconds * 1_000, () => {
      if (run.end === undefined) ended(run, work, { tries, started, answer });
    });
  });
}

/** The attempt ends at its timeout. */
function cutOff({ timeoutSeconds: seconds }: Work, answer: Answer): Answer {
  if (seconds === undefined || answer.seconds <= seconds) return answer;
  return { seconds, error: new NodeError(timedOut(seconds), { kind: 'timeout' }) };
}

function ended(
  run: Playing,
  work: Work,
  { tries, started, answer }: { tries: number; started: number; answer: Answer },
): void {
  const { book, inFlight, errors, world } = run;
  const { step_key: key } = work.entry;
  if ('output' in answer) {
    book.attempt(key, started, null);
    inFlight.delete(key);
    work.succeeded(answer.output);
    run.proceed();
    return;
  }
  const { message, kind, retryable, retryAfterMs } = answer.error;
  const failed = tries + 1;
  book.attempt(key, started, message);
  errors.set(key, (errors.get(key) ?? 0) + 1);
  if (retryable && failed < (work.retry?.max_attempts ?? 1)) {
    const pause = Math.max(retryDelayMs(work.retry, failed), retryAfterMs);
    attemptAt(run, work, { tries: failed, at: world.clock.now + pause });
    return;
  }
  inFlight.delete(key);
  work.failed({ message, kind, attempts: failed });
  run.proceed();
}
