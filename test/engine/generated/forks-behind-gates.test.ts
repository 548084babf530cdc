import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { AppError } from '#shared/errors.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import { forkRun, rerunRun, type ForkRequest } from '#shared/operations/forks/forks.ts';
import { isEffect, placeIn, withReads } from '#test/graph/generated/behind.ts';
import { relation } from '#shared/graph/consequences/relation.ts';
import { hash, worldOf } from '#test/graph/generated/world.ts';
import { startEngine } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { soakTest } from '#test/support/soak.ts';
import { type Case, finishRun, whenFree } from './case.ts';
import { gatedCases, mismatches, named, prepareGenerated, seedOf, sideBySide } from './cases.ts';
import { startOutside } from './outside.ts';

const engine = useStage(startEngine);
const outside = useStage(startOutside);
let other: Actor;
beforeAll(async () => {
  other = await prepareGenerated(engine);
}, 60_000);

const { GRAPH_CASE, FORKS = '1000' } = process.env;
const seed = seedOf();

/** Forks and reruns of one run. */
const OF_A_RUN = 4;

const stepRow = z.object({
  step_key: z.string(),
  node_id: z.string(),
  kind: z.string(),
  reused: z.boolean(),
  executed: z.boolean(),
  decided_by_kind: z.string().nullable(),
});

/** The steps of a run, and who decided its gates. */
const stepsOf = (runId: string) =>
  engine.db.any(sql.type(stepRow)`
    SELECT s.step_key, s.node_id, s.kind, s.reused_from IS NOT NULL AS reused,
           s.reused_from IS NULL AND s.attempts > 0 AND s.status <> 'skipped'
             -- Before a resume, its input was another one.
             OR EXISTS (SELECT FROM step_attempts a WHERE a.run_id = s.run_id AND a.step_key = s.step_key) AS executed,
           g.decided_by_kind
    FROM steps s LEFT JOIN LATERAL (
      SELECT decided_by_kind FROM gates WHERE run_id = s.run_id AND step_key = s.step_key ORDER BY round DESC LIMIT 1
    ) AS g ON true
    WHERE s.run_id = ${runId} AND s.parent_step_key IS NULL AND (s.kind <> 'human_gate' OR s.status <> 'skipped')`);

interface Found {
  problems: string[];
  /** Effects that were executed after a gate, and decisions that were taken over. */
  behind: number;
  reused: number;
}

/**
 * Each effect that the run executed after gates must follow a decision that was made in it; and the last iteration of
 * each of these gates was decided in it.
 */
async function checkDecisions(graph: CompiledGraph, runId: string): Promise<Found> {
  const steps = await stepsOf(runId);
  const gates = steps.filter(({ kind }) => kind === 'human_gate');
  const { length: reused } = gates.filter((gate) => gate.reused);
  const found: Found = { problems: [], behind: 0, reused };
  for (const { step_key: key, node_id, executed } of steps) {
    if (!executed || !isEffect(graph.nodes.find(({ id }) => id === node_id)!)) continue;
    const before = gates.filter((gate) => relation(graph, gate.step_key, key) !== 'none');
    if (before.length === 0) continue;
    found.behind += 1;
    const groups = new Set(before.map(({ step_key }) => placeIn(graph, step_key).item));
    const latest = latestOf(graph, gates);
    // A step beside the last iteration of a gate only follows earlier ones, which are not asked again.
    if (before.some((gate) => latest.includes(gate)) && !before.some(isDecidedHere)) {
      found.problems.push(`no decision of the run is before ${key}`);
    }
    for (const gate of latest) {
      if (!groups.has(placeIn(graph, gate.step_key).item) || isDecidedHere(gate)) continue;
      found.problems.push(
        `${key} was executed under a decision about ${gate.step_key} of another run`,
      );
    }
  }
  return found;
}

const isDecidedHere = ({ reused, decided_by_kind: kind }: z.infer<typeof stepRow>): boolean =>
  !reused && (kind === 'member' || kind === 'deadline');

/** Of each gate, for each item of the maps around it: its last iteration. */
function latestOf<Gate extends { step_key: string; node_id: string }>(
  graph: CompiledGraph,
  gates: readonly Gate[],
): Gate[] {
  const groups = Map.groupBy(gates, ({ step_key }) => placeIn(graph, step_key).item);
  return [...groups.values()].map(
    (all) =>
      all.toSorted((one, next) =>
        compare(placeIn(graph, next.step_key), placeIn(graph, one.step_key)),
      )[0]!,
  );
}

function compare(one: { iteration: number[] }, next: { iteration: number[] }): number {
  const at = one.iteration.findIndex((part, depth) => part !== next.iteration[depth]);
  return at === -1 ? 0 : one.iteration[at]! - next.iteration[at]!;
}

/** A fork or a rerun with a changed state, input or version. Undefined where it cannot start. */
async function startAgain(
  { salt, input }: Case,
  { runId, steps, at }: { runId: string; steps: readonly string[]; at: number },
): Promise<string | undefined> {
  const random = (about: string): number => hash(`${salt} ${about} ${at}`);
  const request: Omit<ForkRequest, 'fromStep'> = {
    ...{ actor: engine.actor, runId, trigger: 'manual' },
    ...(random('input') % 3 === 0 ? { input: { ...input, yes: random('yes') % 2 === 0 } } : {}),
    ...(random('version') % 3 === 0 ? { version: 2 } : {}),
  };
  const fromStep = steps[random('step') % steps.length]!;
  const state = random('state') % 2 === 0 ? { shared: 'of the fork', list: ['x', at] } : undefined;
  try {
    const started = await whenFree(() =>
      random('kind') % 5 === 0
        ? rerunRun(engine.deps, request)
        : forkRun(engine.deps, { ...request, fromStep, state }),
    );
    await started.dispatched;
    return started.runId;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable') return undefined;
    throw error;
  }
}

async function checkForks(each: Case): Promise<Found & { forks: number }> {
  const { name, graph, input, salt } = each;
  const total = { problems: [] as string[], behind: 0, reused: 0, forks: 0 };
  const connect = (version: Graph): Graph => outside.connect(name, version, worldOf(salt));
  const workflowId = await whenFree(() => engine.define(connect(graph), name));
  const runId = await whenFree(() => engine.trigger(workflowId, input));
  await finishRun(engine, other, { each, runId, resumed: salt % 5 !== 0 });
  const second = connect(withReads(graph, salt + 1));
  await whenFree(() => updateWorkflow(engine.db, engine.actor, workflowId, { graph: second }));
  const source = await stepsOf(runId);
  const steps = source.filter(({ executed }) => executed).map(({ step_key }) => step_key);
  for (let at = 0; at < OF_A_RUN; at += 1) {
    const forkId = await startAgain(each, { runId, steps, at });
    if (forkId === undefined) continue;
    total.forks += 1;
    await finishRun(engine, other, { each, runId: forkId, resumed: salt % 5 !== 0 });
    const { problems, behind, reused } = await checkDecisions(compileGraph(graph), forkId);
    const executed = new Set(
      (await stepsOf(forkId)).filter((step) => step.executed).map(({ step_key }) => step_key),
    );
    const unknown = [...outside.sentBy(forkId)].filter((key) => !executed.has(key));
    total.problems.push(...problems, ...unknown.map((key) => `${key} was sent, and is no step`));
    total.behind += behind;
    total.reused += reused;
  }
  return total;
}

async function check(count: number): Promise<void> {
  const all = gatedCases(Math.ceil(count / OF_A_RUN), seed);
  const wrong: string[] = [];
  const total = { behind: 0, reused: 0, forks: 0 };
  await sideBySide(all, async (each) => {
    const found = await checkForks(each).catch((error: unknown) => {
      throw new Error(named(seed, each), { cause: error });
    });
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += found[key];
    if (found.problems.length > 0) {
      wrong.push(`${found.problems.join('; ')} in ${named(seed, each)}`);
    }
  });
  expect([wrong, await mismatches(engine)]).toEqual([[], []]);
  // Few cases may not have all of it.
  if (GRAPH_CASE !== undefined || count < 100) return;
  expect(total.forks).toBeGreaterThan(count / 2);
  expect([total.behind > 0, total.reused > 0]).toEqual([true, true]);
}

test('forks execute nothing without a decision made in them', () => check(20), 60_000);

soakTest('many forks execute nothing without a decision made in them', 1_800_000, () =>
  check(Number(FORKS)),
);
