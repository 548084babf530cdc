import type { WaitNode } from '#shared/contract/workflows/graph.ts';
import { messageOf } from '#shared/errors.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import {
  evaluateExpression,
  ExpressionError,
  truthy,
} from '#shared/graph/expression/expression.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { waitsFor } from '#shared/graph/waits/prepare.ts';
import { seriesOf } from '#shared/graph/waits/series.ts';
import { EVENT, lateError, type WaitsFor } from '#shared/graph/waits/wait-call.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { answerOf } from './answers.ts';
import { PlayError } from './play-error.ts';
import type { OpenWait } from './played-run.ts';
import { entryOf, failStep, keyOf, type Playing, type World } from './playing.ts';

/** What ends a wait, and when: in ms since 1970. */
interface Coming {
  at: number;
  output: Json;
}

/** Starts a step that waits. Its end is planned: a time, an event, a callback or its deadline. */
export function startWait(run: Playing, step: ReadyNode, node: WaitNode): void {
  const { step_key: key, iteration } = step;
  const { clock } = run.world;
  const label = nodeLabel(node);
  const entry = { step_key: key, node_id: node.id, label, kind: node.kind, iteration };
  run.book.begin(entry, 'running');
  let awaited: WaitsFor;
  try {
    awaited = waitsFor(node, run.scheduler.state(key));
  } catch (error) {
    failStep(run, key, { message: messageOf(error), kind: 'node', attempts: 1 });
    return;
  }
  const until = endOf(awaited, clock.now);
  const shown: OpenWait = {
    ...{ node_id: node.id, step_key: key, label, for: awaited.for },
    events: awaited.for === 'event' ? awaited.events.map(({ name }) => name) : [],
    ...{ since: clock.text, until: until === undefined ? null : new Date(until).toISOString() },
    ...(run.name === undefined ? {} : { workflow: run.name }),
  };
  const wait = { step, shown };
  run.waits.set(key, wait);
  const plan = (coming: Coming | undefined): void => {
    const inTime = coming !== undefined && coming.at <= (until ?? Infinity);
    const at = inTime ? coming.at : until;
    if (at === undefined) return;
    clock.at(at, () => {
      if (run.end !== undefined || run.waits.get(key) !== wait) return;
      run.waits.delete(key);
      if (inTime) came(run, key, coming.output);
      else late(run, key, node);
      run.proceed();
    });
  };
  switch (awaited.for) {
    case 'time':
      plan(until === undefined ? undefined : { at: until, output: {} });
      return;
    case 'event':
      plan(nextEvent(run, step, awaited, until));
      return;
    case 'callback':
      run.inFlight.add(key);
      clock.at(clock.now, async () => {
        if (run.end !== undefined) return;
        const coming = await callbackOf(run, step);
        run.inFlight.delete(key);
        plan(coming);
        run.proceed();
      });
      return;
    default:
      awaited satisfies never;
  }
}

function endOf(awaited: WaitsFor, now: number): number | undefined {
  if (awaited.for === 'time' && 'until_ms' in awaited) return Math.max(now, awaited.until_ms);
  const seconds = awaited.for === 'time' ? awaited.seconds : awaited.timeout_seconds;
  return seconds === undefined ? undefined : now + seconds * 1_000;
}

function came(run: Playing, key: string, output: Json): void {
  run.book.succeed(key, output);
  run.scheduler.complete(key, output);
}

function late(run: Playing, key: string, node: WaitNode): void {
  if (node.on_timeout === 'continue') {
    came(run, key, null);
    return;
  }
  const message = lateError(nodeLabel(node), node);
  failStep(run, key, { message, kind: 'timeout', attempts: 1 });
}

/** The first event that matches and that no earlier wait of the same node took. */
function nextEvent(
  run: Playing,
  step: ReadyNode,
  awaited: Extract<WaitsFor, { for: 'event' }>,
  until: number | undefined,
): Coming | undefined {
  const { world, taken, graph, startedAt } = run;
  const series = seriesOf(graph, step);
  const before = taken.get(series) ?? new Set<string>();
  const found = world.events.find(
    (event) =>
      event.at >= startedAt &&
      event.at <= (until ?? Infinity) &&
      !before.has(event.id) &&
      awaited.events.some(({ name, match, state = {} }) => {
        if (name !== event.name) return false;
        return match === undefined || matches(match, { ...state, [EVENT]: eventOf(event) });
      }),
  );
  if (found === undefined) return undefined;
  taken.set(series, before.add(found.id));
  return { at: found.at, output: eventOf(found) };
}

/** An event as the service shows it. */
const eventOf = ({ id, name, data = {}, at }: World['events'][number]): JsonObject => ({
  ...{ id, name, data: structuredClone(data) as JsonObject },
  created_at: new Date(at).toISOString(),
});

/** An expression that fails does not match. */
function matches(match: string, scope: JsonObject): boolean {
  try {
    return truthy(evaluateExpression(match, scope));
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

async function callbackOf(run: Playing, step: ReadyNode): Promise<Coming | undefined> {
  const { step_key, node_id, iteration } = step;
  const { options, clock } = run.world;
  const mock = entryOf(run, options.callbacks, node_id);
  if (mock === undefined) return undefined;
  const named = `callbacks['${keyOf(run.name, node_id)}']`;
  const place = { node_id, step_key, at: step_key, iteration, attempt: 1 };
  const answer = await answerOf(run, mock, { args: {}, place, named });
  if ('error' in answer) {
    throw new PlayError(`${named}: a callback has a body, not an error: ${answer.error.message}`);
  }
  // The service takes any body but null.
  if (answer.output === null) return undefined;
  return { at: clock.now + answer.seconds * 1_000, output: answer.output };
}
