import { errorKinds } from '#shared/graph/caught-error.ts';
import { outputTooLarge } from '#shared/graph/failure-texts.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { messageOf } from '#shared/errors.ts';
import { NodeError } from '#shared/node-error.ts';
import { outputProblem } from '#shared/outside-json.ts';
import { afterIn, attemptsIn, type FailureFields, type Mock, type MockCall } from './mock.ts';
import { PlayError } from './play-error.ts';
import type { Playing } from './playing.ts';

/** What an attempt comes to, after so many seconds. */
export type Answer = { seconds: number } & ({ output: Json } | { error: NodeError });

/** Where a mock is called. */
export interface Place extends Omit<MockCall, 'state'> {
  /** The step whose state counts. */
  at: string;
}

/** What a mock answers. `named` says in messages which mock it is. Throws PlayError for what is no JSON. */
export async function answerOf(
  run: Playing,
  mock: Mock,
  { args, place, named }: { args: JsonObject; place: Place; named: string },
): Promise<Answer> {
  let answer: unknown = mock;
  let seconds = 0;
  for (;;) {
    const each = attemptsIn(answer);
    const later = afterIn(answer);
    if (each !== undefined) {
      if (each.length === 0) throw new PlayError(`${named}: attempts() has no mocks`);
      answer = each[Math.min(place.attempt, each.length) - 1];
    } else if (later !== undefined) {
      seconds += secondsOf(later.seconds, named);
      answer = later.mock;
    } else if (typeof answer === 'function') {
      answer = await called(answer as CalledMock, structuredClone(args), callOf(run, place));
    } else break;
  }
  if (answer instanceof Error) return { seconds, error: nodeError(answer, named) };
  return outputOf(jsonOf(answer, named), seconds);
}

type CalledMock = (args: JsonObject, call: MockCall) => unknown;

async function called(mock: CalledMock, args: JsonObject, call: MockCall): Promise<unknown> {
  try {
    return await mock(args, call);
  } catch (error) {
    if (error instanceof PlayError) throw error;
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

/** The state is copied when it is read: while a mock answers, nothing else happens in the run. */
function callOf({ scheduler }: Playing, { at, ...call }: Place): MockCall {
  let copy: JsonObject | undefined;
  return {
    ...call,
    get state() {
      copy ??= structuredClone({ ...scheduler.state(at) });
      return copy;
    },
  };
}

export function secondsOf(given: unknown, named: string): number {
  if (typeof given === 'number' && given >= 0 && Number.isFinite(given)) return given;
  throw new PlayError(`${named}: seconds must be a number from 0 on`);
}

/** The error of a mock, as an error of the node. */
function nodeError(error: Error & FailureFields, named: string): NodeError {
  const { error_kind: kind = 'node', retryable = true, retry_after_seconds: seconds = 0 } = error;
  if (!errorKinds.includes(kind)) {
    const kinds = errorKinds.join(', ');
    throw new PlayError(`${named}: error_kind is one of ${kinds}, not ${JSON.stringify(kind)}`);
  }
  return new NodeError(error.message, { kind, retryable, retryAfterMs: seconds * 1_000 });
}

/** An output as the service keeps it. */
export function outputOf(output: Json, seconds: number): Answer {
  const problem = outputProblem(output);
  if (problem === undefined) return { seconds, output: toStorable(output) };
  return { seconds, error: new NodeError(outputTooLarge(problem), { retryable: false }) };
}

/** A value as JSON; undefined is null. Throws PlayError for what JSON cannot have. */
export function jsonOf(value: unknown, named: string): Json {
  if (value === undefined) return null;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new PlayError(`${named} is not JSON: ${messageOf(error)}`);
  }
  if (text === undefined) throw new PlayError(`${named} is not JSON: it is a ${typeof value}`);
  return JSON.parse(text) as Json;
}

/** Like `jsonOf`, for an object. */
export function objectOf(value: unknown, named: string): JsonObject {
  const json = jsonOf(value, named);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  throw new PlayError(`${named} must be an object`);
}
