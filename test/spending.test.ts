import { describe, expect, test } from '@jest/globals';
import {
  admit,
  type BudgetRoom,
  countedCost,
  FREE,
  type RunRoom,
  type StepCost,
  UNKNOWN_COST,
} from '#shared/money/spending.ts';
import { soakDescribe } from '#test/support/soak.ts';

const exact = (micros: number): StepCost => ({ least: micros, most: micros });
const bounded = (most: number): StepCost => ({ least: 1, most });
const room = ({
  cost = 0,
  cap = null,
  oneStep = false,
  inFlight = { micros: 0, unknown: false },
  experiment = null,
  ...of
}: Partial<RunRoom> & { cost?: number; cap?: number | null; oneStep?: boolean } = {}): RunRoom => ({
  experiment,
  caps: cap === null ? [] : [{ cost, cap, inFlight, oneStep }],
  inFlight,
  budgets: [],
  ...of,
});
const budget = (of: Partial<BudgetRoom> = {}): BudgetRoom => ({
  budgetId: 'b',
  name: 'B',
  limit: 100,
  estimate: 10,
  used: 0,
  held: Math.max(of.estimate ?? 10, of.used ?? 0),
  committed: 10,
  pending: 0,
  pendingUnknown: false,
  releasable: 0,
  oneStep: false,
  ...of,
});
const loose = (of: Partial<BudgetRoom> = {}): BudgetRoom => budget({ oneStep: true, ...of });
const atWork = (micros: number, unknown = false) => ({ micros, unknown });

const ofExperiment = (cost: number, micros = 0): RunRoom =>
  room({ experiment: { cost, cap: 10, inFlight: { micros, unknown: false } } });

test.each<[string, RunRoom, StepCost, string]>([
  ['all it may cost fits the experiment', ofExperiment(5), bounded(5), 'begin'],
  ['it may cost more than the experiment has', ofExperiment(5), bounded(6), 'stop'],
  ['its cost is unknown in an experiment', ofExperiment(0), UNKNOWN_COST, 'stop'],
  [
    'its cost is only known from before',
    ofExperiment(0),
    { ...bounded(5), estimated: true },
    'stop',
  ],
  ['it is free in a spent experiment', ofExperiment(10), FREE, 'begin'],
  ['other rehearsals may use up the rest', ofExperiment(5, 3), bounded(3), 'wait'],
  ['it fits beside the other rehearsals', ofExperiment(5, 2), bounded(3), 'begin'],
  ['nothing bounds it', room(), UNKNOWN_COST, 'begin'],
  ['fills the cap exactly', room({ cost: 5, cap: 10 }), bounded(5), 'begin'],
  ['may cost more than the cap has left', room({ cost: 5, cap: 10 }), bounded(6), 'stop'],
  [
    'does not fit, whatever others cost',
    room({ cost: 5, cap: 10, inFlight: atWork(9) }),
    bounded(6),
    'stop',
  ],
  ['at the cap', room({ cost: 10, cap: 10 }), exact(5), 'stop'],
  ['at the cap, and free', room({ cost: 10, cap: 10 }), FREE, 'begin'],
  ['above the cap, and free', room({ cost: 11, cap: 10 }), FREE, 'stop'],
  ['fits if others cost less', room({ cost: 5, cap: 10, inFlight: atWork(1) }), exact(5), 'wait'],
  ['fits beside others', room({ cost: 5, cap: 10, inFlight: atWork(1) }), exact(4), 'begin'],
  ['of unknown cost below the cap', room({ cost: 9, cap: 10 }), UNKNOWN_COST, 'begin'],
  ['of unknown cost at the cap', room({ cost: 10, cap: 10 }), UNKNOWN_COST, 'stop'],
  [
    'of unknown cost beside what may fill the cap',
    room({ cost: 5, cap: 10, inFlight: atWork(5) }),
    UNKNOWN_COST,
    'wait',
  ],
  ['beside an unknown cost', room({ cap: 10, inFlight: atWork(0, true) }), exact(1), 'wait'],
  ['free beside an unknown cost', room({ cap: 10, inFlight: atWork(0, true) }), FREE, 'begin'],
  ['within its estimate', room({ budgets: [budget({ committed: 100 })] }), exact(10), 'begin'],
  [
    'within its estimate beside another of its run',
    room({ budgets: [budget({ committed: 100 })], inFlight: atWork(1) }),
    exact(10),
    'wait',
  ],
  [
    'unknown within its estimate, all full',
    room({ budgets: [budget({ used: 9, committed: 100 })] }),
    UNKNOWN_COST,
    'begin',
  ],
  [
    'bounded above its estimate, all full',
    room({ budgets: [budget({ used: 9, committed: 100 })] }),
    bounded(2),
    'stop',
  ],
  [
    'grows its hold up to the limit',
    room({ budgets: [budget({ used: 9, committed: 60 })] }),
    bounded(41),
    'begin',
  ],
  [
    'grows its hold above the limit',
    room({ budgets: [budget({ used: 9, committed: 60 })] }),
    bounded(42),
    'stop',
  ],
  [
    'grows its hold beside others of its run',
    room({ budgets: [budget({ used: 9, committed: 60 })], inFlight: atWork(30) }),
    bounded(12),
    'wait',
  ],
  [
    'exactly at its estimate, and free',
    room({ budgets: [budget({ used: 10, committed: 100 })] }),
    FREE,
    'begin',
  ],
  [
    'beyond its estimate and the limit, and free',
    room({ budgets: [budget({ used: 11, committed: 101 })] }),
    FREE,
    'stop',
  ],
  [
    'exactly at its estimate, and not free',
    room({ budgets: [budget({ used: 10, committed: 100 })] }),
    UNKNOWN_COST,
    'stop',
  ],
  [
    'beyond its estimate, with room',
    room({ budgets: [budget({ used: 20, committed: 20 })] }),
    exact(80),
    'begin',
  ],
  [
    'beyond its estimate, with room if others cost nothing',
    room({ budgets: [budget({ used: 20, committed: 60, pending: 40 })] }),
    exact(9),
    'wait',
  ],
  [
    'beyond its estimate beside another run of unknown cost',
    room({ budgets: [budget({ used: 20, committed: 20, pendingUnknown: true })] }),
    exact(9),
    'wait',
  ],
  [
    'within its estimate beside another run of unknown cost',
    room({ budgets: [budget({ pendingUnknown: true })] }),
    exact(9),
    'begin',
  ],
  [
    'without an estimate below the limit',
    room({ budgets: [budget({ estimate: null, committed: 99, used: 500 })] }),
    UNKNOWN_COST,
    'begin',
  ],
  [
    'without an estimate at the limit',
    room({ budgets: [budget({ estimate: null, committed: 100 })] }),
    exact(1),
    'stop',
  ],
  [
    'any of several budgets',
    room({ budgets: [budget(), budget({ used: 50, committed: 100 })] }),
    exact(1),
    'stop',
  ],
  [
    'one limit lets it begin, and another makes it wait',
    room({ cap: 10, inFlight: atWork(9), budgets: [budget()] }),
    exact(2),
    'wait',
  ],
])('a step %s: %#', (_title, run, step, outcome) => {
  const verdict = admit(run, step);
  expect(typeof verdict === 'string' ? verdict : 'stop').toBe(outcome);
});

test("a node's earlier cost is not an upper bound, except under limits with an overrun", () => {
  const before: StepCost = { ...bounded(5), estimated: true };
  expect(countedCost(room({ cap: 10 }), before)).toEqual(UNKNOWN_COST);
  expect(countedCost(room({ budgets: [budget()] }), before)).toEqual(UNKNOWN_COST);
  expect(countedCost(room({ cap: 10, oneStep: true, budgets: [loose()] }), before)).toBe(before);
  expect(countedCost(room({ budgets: [budget({ estimate: null })] }), before)).toBe(before);
});

test.each<[string, RunRoom, StepCost, string]>([
  ['below the cap', room({ cost: 9, cap: 10, oneStep: true }), exact(5), 'begin'],
  ['at the cap', room({ cost: 10, cap: 10, oneStep: true }), exact(5), 'stop'],
  ['at the cap, and free', room({ cost: 10, cap: 10, oneStep: true }), FREE, 'stop'],
  [
    'what is at work fills the cap',
    room({ cost: 5, cap: 10, oneStep: true, inFlight: atWork(5) }),
    exact(5),
    'wait',
  ],
  [
    'what is at work leaves some of the cap',
    room({ cost: 5, cap: 10, oneStep: true, inFlight: atWork(4) }),
    exact(5),
    'begin',
  ],
  [
    'bounded above its estimate, all full',
    room({ budgets: [loose({ used: 9, committed: 100 })] }),
    bounded(50),
    'begin',
  ],
  [
    'sure to outgrow its estimate, all full',
    room({ budgets: [loose({ used: 9, committed: 100 })] }),
    exact(2),
    'stop',
  ],
  ['beyond its estimate, with room', room({ budgets: [loose({ used: 20 })] }), exact(9), 'begin'],
  [
    'beyond its estimate, with room if others cost nothing',
    room({ budgets: [loose({ used: 20, committed: 60, pending: 40 })] }),
    exact(9),
    'wait',
  ],
])('under a limit with an overrun of one step, a step %s: %#', (_title, run, step, outcome) => {
  const verdict = admit(run, step);
  expect(typeof verdict === 'string' ? verdict : 'stop').toBe(outcome);
});

/** Returns the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface SimulatedStep {
  cost: number;
  known: StepCost;
  state: 'ready' | 'at work' | 'ended';
}
interface SimulatedRun {
  steps: SimulatedStep[];
  cap: number | null;
  stopped: boolean;
}

/**
 * Runs under one budget whose steps are all ready at once, started and ended in any order. Workers die in between: then
 * the step is ready again, and its cost is not counted. Returns the total spent.
 */
function simulate(
  runs: SimulatedRun[],
  limits: { limit: number; estimate: number } | undefined,
  next: () => number,
  oneStep = true,
): number {
  const costOf = (run: SimulatedRun) =>
    run.steps.reduce((sum, step) => sum + (step.state === 'ended' ? step.cost : 0), 0);
  const flight = (run: SimulatedRun) => {
    const busy = run.steps.filter((step) => step.state === 'at work');
    return {
      micros: busy.reduce((sum, step) => sum + (step.known.most ?? 0), 0),
      unknown: busy.some((step) => step.known.most === null),
    };
  };
  const roomOf = (run: SimulatedRun): RunRoom => {
    const budgets: BudgetRoom[] = [];
    if (limits !== undefined) {
      const { limit, estimate } = limits;
      const others = runs.filter((other) => other !== run);
      const held = (of: SimulatedRun) => Math.max(estimate, costOf(of));
      budgets.push({
        budgetId: 'b',
        name: 'B',
        limit,
        estimate,
        used: costOf(run),
        held: held(run),
        committed: runs.reduce((sum, of) => sum + held(of), 0),
        pending: others.reduce(
          (sum, of) => sum + Math.max(0, costOf(of) + flight(of).micros - held(of)),
          0,
        ),
        pendingUnknown: others.some((of) => flight(of).unknown && costOf(of) >= estimate),
        releasable: 0,
        oneStep,
      });
    }
    return room({ cost: costOf(run), cap: run.cap, oneStep, inFlight: flight(run), budgets });
  };
  for (let moves = 0; ; moves += 1) {
    const ready = runs.flatMap((run) =>
      run.stopped
        ? []
        : run.steps.filter((step) => step.state === 'ready').map((step) => ({ run, step })),
    );
    const busy = runs.flatMap((run) => run.steps.filter((step) => step.state === 'at work'));
    if (ready.length === 0 && busy.length === 0) break;
    if (moves > 100_000) throw new Error('The simulation does not end');
    const verdicts = new Set<string>();
    if (ready.length > 0 && (busy.length === 0 || next() < 0.7)) {
      // With nothing in flight, no step may have to wait: asks for all of them.
      const asked = busy.length === 0 ? ready : [ready[Math.floor(next() * ready.length)]!];
      for (const { run, step } of asked) {
        if (run.stopped || step.state !== 'ready') continue;
        const verdict = admit(roomOf(run), step.known);
        verdicts.add(typeof verdict === 'string' ? verdict : 'stop');
        if (verdict === 'begin') {
          step.state = 'at work';
          break;
        }
        if (verdict !== 'wait') run.stopped = true;
      }
      if (busy.length === 0) expect(verdicts).not.toContain('wait');
    } else {
      const step = busy[Math.floor(next() * busy.length)]!;
      step.state = next() < 0.1 ? 'ready' : 'ended';
    }
  }
  return runs.reduce((sum, run) => sum + costOf(run), 0);
}

const kinds: Record<string, (cost: number, next: () => number) => StepCost> = {
  known: (cost) => exact(cost),
  bounded: (cost, next) => bounded(Math.ceil(cost * (1 + 4 * next()))),
  unknown: () => UNKNOWN_COST,
  mixed: (cost, next) => [exact(cost), bounded(cost * 3), UNKNOWN_COST][Math.floor(next() * 3)]!,
};
const sizes = Array.from({ length: 49 }, (_, n) => n + 2);
const stepsOf = (n: number, kind: string, next: () => number): SimulatedStep[] =>
  Array.from({ length: n }, () => {
    const cost = 1 + Math.floor(next() * 100);
    return { cost, known: kinds[kind]!(cost, next), state: 'ready' as const };
  });
/** As many runs as a budget with an estimate admits, with their steps. */
function runsUnderBudget(n: number, kind: string, next: () => number) {
  const estimate = Math.floor(next() * 200);
  const limit = Math.max(estimate, 1) * (1 + Math.floor(next() * 5)) + Math.floor(next() * 50);
  const admitted = Math.min(8, estimate === 0 ? 5 : Math.floor(limit / estimate));
  const runs = Array.from({ length: admitted }, () => ({
    steps: stepsOf(Math.ceil(n / admitted), kind, next),
    cap: null,
    stopped: false,
  }));
  return { runs, limits: { limit, estimate } };
}
const dearest = (runs: SimulatedRun[]) =>
  Math.max(...runs.flatMap((run) => run.steps.map((step) => step.cost)));

describe.each(['known', 'bounded'])('parallel steps of %s cost', (kind) => {
  test('never exceed the cap, and use as much of it as possible', () => {
    for (const n of sizes) {
      for (let seed = 0; seed < 20; seed += 1) {
        const next = random(n * 1_000 + seed);
        const steps = stepsOf(n, kind, next);
        const cap = Math.max(1, Math.floor(next() * n * 60));
        const runs = [{ steps, cap, stopped: false }];
        const spent = simulate(runs, undefined, next, false);
        expect(spent).toBeLessThanOrEqual(cap);
        const open = steps.filter((step) => step.state !== 'ended');
        const dearestOpen = Math.max(0, ...open.map(({ known }) => known.most ?? 0));
        expect(open.length === 0 || spent + dearestOpen > cap).toBe(true);
      }
    }
  });

  test('never exceed the budget', () => {
    for (const n of sizes) {
      for (let seed = 0; seed < 10; seed += 1) {
        const next = random(n * 777 + seed);
        const { runs, limits } = runsUnderBudget(n, kind, next);
        expect(simulate(runs, limits, next, false)).toBeLessThanOrEqual(limits.limit);
      }
    }
  });
});

soakDescribe.each(Object.keys(kinds))('parallel steps of %s cost, with an overrun', (kind) => {
  test('exceed the cap by less than one step, for any number of steps', () => {
    for (const n of sizes) {
      for (let seed = 0; seed < 20; seed += 1) {
        const next = random(n * 1_000 + seed);
        const steps = stepsOf(n, kind, next);
        const cap = Math.max(1, Math.floor(next() * n * 60));
        const runs = [{ steps, cap, stopped: false }];
        const spent = simulate(runs, undefined, next);
        expect(spent).toBeLessThan(cap + dearest(runs));
        // Nothing is held back permanently: below the cap, all steps end.
        const done = steps.every((step) => step.state === 'ended');
        expect(done || spent >= cap).toBe(true);
      }
    }
  });

  test('exceed the budget by less than one step, plus one per run if costs are not known', () => {
    for (const n of sizes) {
      for (let seed = 0; seed < 10; seed += 1) {
        const next = random(n * 777 + seed);
        const { runs, limits } = runsUnderBudget(n, kind, next);
        const spent = simulate(runs, limits, next);
        const beyond = kind === 'known' ? 1 : 1 + runs.length;
        expect(spent).toBeLessThan(limits.limit + beyond * dearest(runs));
      }
    }
  });
});
