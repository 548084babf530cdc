import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { beginChildStep } from '#shared/db/children/steps.ts';
import { createBudget, deleteBudget, readBudget } from '#shared/db/money/budgets.ts';
import { sql } from '#shared/db/pool.ts';
import { abandonRun } from '#shared/db/runs/ends.ts';
import { finishStep, recordStepError, type StepEnd } from '#shared/db/steps/step-ends.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { AppError } from '#shared/errors.ts';
import { toDollars } from '#shared/money/money.ts';
import { triggerRun } from '#shared/operations/runs/runs.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beginPart, type Open, type Plan, type Schedule, schedules } from './limit-schedules.ts';
import { expectCostsToAgree, expectLedgerToAgree } from '#test/support/money.ts';
import { beginAs } from '#test/db/tool-step.ts';

/**
 * Random schedules of parallel steps, of maps and of agents with tools, with retries, in runs and the runs below them,
 * through the statements of workers, several at the same time. Every limit holds at every moment.
 *
 *     LIMIT_SCHEDULES=1000 npm test -- test/db/limits-hold.soak.test.ts
 */
const SCHEDULES = Number(process.env['LIMIT_SCHEDULES'] ?? 12);
const SEED = process.env['LIMIT_SEED'];

const engine = useEngine({ worker: false });
beforeAll(async () => {
  // A thousand schedules have more runs than the free plan.
  await engine.db.query(sql.unsafe`UPDATE workspaces SET plan = 'enterprise'`);
});

/** Null: no one knows. */
type Asked = Pick<Open, 'runId' | 'stepKey'> &
  Partial<Pick<Open, 'nodeId' | 'iteration' | 'agent'>> & { bound: number | null };
interface World {
  schedule: Schedule;
  workflowId: string;
  /** Not triggered yet. */
  waiting: { plan: Plan; at: number }[];
  runs: { id: string; plan: Plan; at: number }[];
  budgetId: string | undefined;
}

async function build(schedule: Schedule): Promise<World> {
  const { plans, overrun, budget } = schedule;
  const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  const budgetId =
    budget === null
      ? undefined
      : await createBudget(engine.db, engine.actor, {
          ...{ name: 'B', scope: 'workflow', workflow_id: workflowId, window: 'month', overrun },
          limit_usd: toDollars(budget.limit),
          reservation_estimate_usd: toDollars(budget.estimate),
        });
  const waiting = plans.map((plan, at) => ({ plan, at }));
  return { schedule, workflowId, waiting, runs: [], budgetId };
}

/** Triggers the runs of this round. Returns their first steps. */
async function trigger(world: World, round: number): Promise<Open[]> {
  const { schedule, workflowId, runs } = world;
  const now = world.waiting.filter(({ plan }) => plan.round <= round);
  world.waiting = world.waiting.filter(({ plan }) => plan.round > round);
  const first: Open[] = [];
  for (const { plan, at } of now) {
    const run_cap_usd = plan.cap === null ? null : toDollars(plan.cap);
    const { overrun } = schedule;
    await updateWorkflow(engine.db, engine.actor, workflowId, { run_cap_usd, overrun });
    const above = runs.find((run) => run.at === plan.above)?.id;
    if (plan.above !== null && above === undefined) continue;
    try {
      const id = await admit(workflowId, at, above);
      runs.push({ id, plan, at });
      first.push(...plan.parts.flatMap((part, place) => beginPart(id, place, part)));
    } catch (error) {
      // Its budget has no room, or the cap of a run above it.
      if (!(error instanceof AppError) || error.code !== 'budget_exceeded') throw error;
    }
  }
  return first;
}

const execution = 'e';

async function admit(workflowId: string, at: number, above: string | undefined): Promise<string> {
  if (above === undefined) return engine.trigger(workflowId);
  const key = `sub${at}`;
  await beginChildStep(engine.db, {
    ...{ step_key: key, node_id: key, label: key, iteration: [], output_key: key },
    ...{ control: [], observed: [], alerts: false, run_id: above, workflow_id: workflowId },
    ...{ execution, attempt: 1, workspace_id: engine.actor.workspaceId, input: {} },
    judged: { revision: 0, verdicts: [] },
  });
  const { runId } = await triggerRun(engine.deps, {
    ...{ actor: engine.actor, workflowId, trigger: 'workflow', input: {} },
    parent: { runId: above, stepKey: key, execution, attempt: 1 },
  });
  return runId;
}

async function begin({ runId, stepKey, bound, ...place }: Asked): Promise<string> {
  const { nodeId = stepKey, iteration = [], agent } = place;
  const { outcome } = await beginAs(engine, runId, {
    ...{ execution, claimMs: 3_600_000, stepKey, nodeId, label: stepKey, agent },
    ...{ kind: agent?.call === undefined ? 'agent' : 'tool', iteration },
    outputKey: agent === undefined ? nodeId : null,
    cost: () => Promise.resolve({ least: bound ?? 1, most: bound }),
  });
  return outcome;
}

type Ending = Pick<Open, 'runId' | 'stepKey' | 'cost'> & Partial<Open>;
const stepEnd = ({ runId, stepKey, nodeId = stepKey, agent, cost }: Ending): StepEnd => ({
  ...{ runId, stepKey, nodeId, agent, claim: 'c', counted: true },
  spending: { costMicros: cost },
});
const end = (step: Ending) => finishStep(engine.db, stepEnd(step), 1);

/** Ends an attempt of a step. Returns what can begin now. */
async function endAttempt(step: Open): Promise<Open[]> {
  if (step.failures === 0) {
    await end(step);
    return step.follow('success');
  }
  const retry = { retryable: true, definite: false, maxAttempts: 10 };
  await recordStepError(engine.db, stepEnd(step), { message: 'Busy', ...retry });
  return [{ ...step, failures: step.failures - 1 }];
}

/** What was spent is within every limit. With an overrun, it exceeds one by less than a step. */
async function expectLimitsToHold({ schedule, runs, budgetId }: World): Promise<void> {
  const { overrun, budget } = schedule;
  const works = runs.flatMap(({ plan }) => plan.parts.flatMap(({ items }) => items));
  const bounds = works.flatMap(({ turns }) => turns.map(({ bound }) => bound));
  const dearest = Math.max(0, ...bounds);
  const rows = await engine.db.any(sql.type(z.object({ id: z.string(), cost: z.number() }))`
    SELECT r.id, r.cost_micros + (SELECT coalesce(sum(b.cost_micros), 0)::bigint FROM runs b
      WHERE b.id IN (SELECT a.id FROM runs_below(r.id) AS a)) AS cost
    FROM runs r WHERE r.id = ANY (${sql.array(
      runs.map(({ id }) => id),
      'text',
    )})`);
  const most = (limit: number, steps = 1) =>
    overrun === 'none' ? limit : limit + steps * Math.max(0, dearest - 1);
  for (const { id, cost } of rows) {
    const cap = runs.find((run) => run.id === id)?.plan.cap;
    if (cap != null) expect(cost).toBeLessThanOrEqual(most(cap));
  }
  if (budgetId === undefined || budget === null) return;
  const ids = { workspaceId: engine.actor.workspaceId, budgetId };
  const { status } = await readBudget(engine.db, ids);
  const committed = Math.round(status.committed_usd * 1e6);
  // With an overrun, each run can exceed its estimate by one step.
  expect(committed).toBeLessThanOrEqual(most(budget.limit, runs.length));
}

async function play(schedule: Schedule): Promise<void> {
  const world = await build(schedule);
  let open = await trigger(world, 0);
  let busy: Open[] = [];
  // Those that wait can begin only after another one has ended.
  let leastEnded = 0;
  for (let round = 0; open.length + busy.length + world.waiting.length > 0; round += 1) {
    expect(round).toBeLessThan(600);
    const { asked, ended } = schedule.rounds[round % schedule.rounds.length]!;
    // With nothing in progress, no step may have to wait: all are asked.
    const idle = busy.length === 0;
    const asking = idle ? open : open.slice(0, asked);
    const ending = busy.slice(0, asking.length === 0 ? busy.length : Math.max(ended, leastEnded));
    const [outcomes, followed, triggered] = await Promise.all([
      Promise.all(asking.map(begin)),
      Promise.all(ending.map(endAttempt)),
      trigger(world, round),
    ]);
    const of = (outcome: string) => asking.filter((_, at) => outcomes[at] === outcome);
    const waits = of('waits');
    const blocked = of('blocked');
    leastEnded = waits.length === asking.length ? 1 : 0;
    if (idle) expect(waits.length).toBeLessThan(Math.max(1, asking.length));
    expect(of('begun').length + blocked.length + waits.length).toBe(asking.length);
    busy = [...busy.filter((each) => !ending.includes(each)), ...of('begun')];
    const next = [...followed.flat(), ...blocked.flatMap((each) => each.follow('blocked'))];
    // Those that wait come again later than the others.
    open = [...open.filter((each) => !asking.includes(each)), ...next, ...triggered, ...waits];
    await expectLimitsToHold(world);
  }
  await expectLedgerToAgree(engine.db);
  await expectCostsToAgree(engine.db);
  // A workspace has few.
  if (world.budgetId !== undefined) await deleteBudget(engine.db, engine.actor, world.budgetId);
}

test(
  'no schedule of steps with a bound exceeds a cap or a budget',
  async () => {
    await fc.assert(fc.asyncProperty(schedules, play), {
      numRuns: SCHEDULES,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      // Each try of a smaller schedule takes as long as the failed one.
      endOnFailure: SCHEDULES < 100,
    });
  },
  Math.max(120_000, SCHEDULES * 10_000),
);

describe('the hold of a run', () => {
  const LIMIT = 100;

  /** A budget whose estimate is its limit, a run that holds it, and runs below that. */
  async function family(below: number) {
    const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
    const budgetId = await createBudget(engine.db, engine.actor, {
      ...{ name: 'B', scope: 'workflow', workflow_id: workflowId, window: 'month' },
      ...{ limit_usd: toDollars(LIMIT), reservation_estimate_usd: toDollars(LIMIT) },
    });
    const parent = await admit(workflowId, 0, undefined);
    const children: string[] = [];
    for (let at = 1; at <= below; at += 1) children.push(await admit(workflowId, at, parent));
    const { workspaceId } = engine.actor;
    const read = async () => {
      await expectLedgerToAgree(engine.db);
      const { status } = await readBudget(engine.db, { workspaceId, budgetId });
      return [status.spent_usd, status.reserved_usd].map((usd) => Math.round(usd * 1e6));
    };
    return { parent, children, read };
  }
  const asked = (runId: string, bound: number, cost = bound, stepKey = 's') => ({
    ...{ runId, stepKey, bound, cost },
  });
  const endRun = (runId: string) =>
    abandonRun(engine.db, { runId, kind: 'cancelled', error: 'Over', alerts: false });

  test('contains those of the runs below it, which take what a request needs and return the rest', async () => {
    const { parent, children, read } = await family(2);
    const [one, two] = children as [string, string];
    expect(await read()).toEqual([0, LIMIT]);
    const first = asked(one, 60, 10);
    expect(await begin(first)).toBe('begun');
    expect(await read()).toEqual([0, LIMIT]);
    // Only the request in progress is in the way.
    const second = asked(two, 60);
    expect(await begin(second)).toBe('waits');
    expect(await begin(asked(parent, 60))).toBe('waits');
    expect(await begin(asked(two, 101, 0, 'large'))).toBe('blocked');
    await end(first);
    expect(await begin(second)).toBe('begun');
    await end(second);
    expect(await begin(asked(one, 31, 0, 'more'))).toBe('blocked');
    const last = asked(parent, 30, 5);
    expect(await begin(last)).toBe('begun');
    await end(last);
    expect(await read()).toEqual([0, LIMIT]);
    await endRun(one);
    await endRun(two);
    // What they have spent counts, and the hold above has the rest.
    expect(await read()).toEqual([70, 30]);
    await endRun(parent);
    expect(await read()).toEqual([75, 0]);
  });

  test('lends everything that is free to requests of unknown cost, one after another', async () => {
    const { children, read } = await family(2);
    const [one, two] = children as [string, string];
    const unknown = (runId: string) => begin({ ...asked(runId, 1), bound: null });
    expect(await unknown(one)).toBe('begun');
    expect(await unknown(two)).toBe('waits');
    await end(asked(one, 0, 40));
    expect(await unknown(two)).toBe('begun');
    await end(asked(two, 0, 10));
    expect(await read()).toEqual([0, LIMIT]);
  });

  test('ends with those of the runs below it, whose late costs still count', async () => {
    const { parent, children, read } = await family(1);
    const request = asked(children[0]!, 40, 15);
    expect(await begin(request)).toBe('begun');
    await endRun(parent);
    expect(await read()).toEqual([0, 0]);
    await end(request);
    expect(await read()).toEqual([15, 0]);
  });

  test('refuses another run below it when neither it nor the budget has anything left', async () => {
    const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
    await createBudget(engine.db, engine.actor, {
      ...{ name: 'Full', scope: 'workflow', workflow_id: workflowId, window: 'month' },
      ...{ limit_usd: toDollars(LIMIT), reservation_estimate_usd: toDollars(LIMIT) },
    });
    const parent = await admit(workflowId, 0, undefined);
    const all = asked(parent, LIMIT);
    expect(await begin(all)).toBe('begun');
    await end(all);
    await expect(admit(workflowId, 1, parent)).rejects.toThrow(
      "Budget 'Full' exhausted: $0.0001 of $0.0001 committed",
    );
  });
});
