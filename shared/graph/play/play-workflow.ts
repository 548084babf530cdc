import { evaluateChecks } from '#shared/graph/checks.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { openGateOf } from './decisions.ts';
import type { Playable, PlayOptions } from './options.ts';
import type { OpenGate, OpenWait, PlayedEvals, PlayedRun, PlayedStep } from './played-run.ts';
import { createPlaying, type Playing } from './playing.ts';
import { prepare } from './prepare.ts';
import { proceed } from './proceed.ts';
import type { Schemas } from './schemas.ts';
import { stateSoFar } from './state-so-far.ts';

/**
 * Runs a workflow in this process, on the scheduler of the service: with the given mocks, decisions, events and a virtual
 * clock. It needs no server, and reaches nothing outside. Throws PlayError for a workflow that the service would refuse,
 * and for a test that is not complete.
 */
export async function playWorkflow(
  workflow: Playable,
  options: PlayOptions,
  schemas: Schemas,
): Promise<PlayedRun> {
  const prepared = prepare(workflow, options, schemas);
  const world = { ...prepared.world, proceed };
  const run = createPlaying(world, prepared.workflow.graph, prepared.input, undefined);
  world.clock.at(world.start, run.proceed);
  await world.clock.run();
  // Objects of the scheduler have no prototype, and a strict comparison would see that.
  return JSON.parse(JSON.stringify(playedRunOf(run))) as PlayedRun;
}

function playedRunOf(run: Playing): PlayedRun {
  const { end, world } = run;
  const waited = world.clock.now - (run.restSince ?? world.clock.now);
  const waiting_ms = run.waitedMs + (end === undefined ? waited : 0);
  const until = run.finishedAt === undefined ? world.clock.now : Date.parse(run.finishedAt);
  const duration_ms = until - run.startedAt - waiting_ms;
  const failed = end?.status === 'failed' ? end : undefined;
  const gates = end === undefined ? gatesOf(run) : [];
  return {
    status:
      end === undefined
        ? gates.length > 0
          ? 'paused'
          : 'running'
        : failed === undefined
          ? 'success'
          : 'failed',
    output: end?.status === 'success' ? end.output : null,
    state: end?.status === 'success' ? stateOf(run) : stateSoFar(run),
    steps: run.book.steps.map((step) => stepOf(run, step)),
    ...{ gates, waits: end === undefined ? waitsOf(run) : [] },
    error: failed?.error ?? null,
    failure: failed === undefined ? null : { kind: failed.kind, node_id: failed.node_id },
    evals: end?.status === 'success' ? evalsOf(run, end.output, duration_ms) : null,
    ...{ duration_ms, waiting_ms },
    started_at: new Date(run.startedAt).toISOString(),
    finished_at: run.finishedAt ?? null,
  };
}

/** Nothing has a cost here. */
function evalsOf(run: Playing, output: JsonObject, duration_ms: number): PlayedEvals | null {
  const checks = run.world.checks.get(run.name) ?? [];
  if (checks.length === 0) return null;
  return evaluateChecks(checks, { state: stateOf(run), output, cost_usd: 0, duration_ms });
}

function stepOf(run: Playing, step: PlayedStep): PlayedStep {
  const child = run.children.get(step.step_key);
  return child === undefined ? step : { ...step, child: playedRunOf(child) };
}

const stateOf = ({ scheduler }: Playing): JsonObject =>
  JSON.parse(scheduler.endState().state) as Json as JsonObject;

const openChildren = ({ children }: Playing): Playing[] =>
  [...children.values()].filter(({ end }) => end === undefined);

const gatesOf = (run: Playing): OpenGate[] => [
  ...[...run.gates.values()].map((gate) => openGateOf(run, gate)),
  ...openChildren(run).flatMap(gatesOf),
];

const waitsOf = (run: Playing): OpenWait[] => [
  ...[...run.waits.values()].map(({ shown }) => shown),
  ...openChildren(run).flatMap(waitsOf),
];
