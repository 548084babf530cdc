import fc from 'fast-check';
import { type AgentAction, createAgentLoop } from '#shared/agents/loop.ts';
import { callKey, type TurnProgress, turnKey } from '#shared/agents/turn-record.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';

/** Random schedules of steps that cost something, and the order in which the parts of a run begin. */

/** In micro-dollars: what a request may cost at most, and what it costs. */
interface Priced {
  bound: number;
  cost: number;
  /** How many attempts fail, each at this cost. */
  failures: number;
}
/** A turn asks the model, and then makes its calls, which cost nothing, at the same time. */
interface Turn extends Priced {
  calls: number;
}
/** A step, or with `tools` an agent with tools. */
interface Work {
  tools: boolean;
  turns: Turn[];
}
/** What begins with its run: one work, or with `concurrency` a map with one for each item. */
interface Part {
  items: Work[];
  concurrency: number | null;
}
export interface Plan {
  parts: Part[];
  cap: number | null;
  /** The place of the run above it; it comes before. */
  above: number | null;
  /** The round in which it is triggered. */
  round: number;
}
export interface Schedule {
  overrun: 'none' | 'one_step';
  plans: Plan[];
  budget: { limit: number; estimate: number } | null;
  /** What happens: how many steps are asked at once, and how many of those in progress end beside them. */
  rounds: { asked: number; ended: number }[];
}

const turn = fc
  .record({
    bound: fc.integer({ min: 0, max: 100 }),
    // A double would be next to 0 nearly always.
    percent: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 100 })),
    failures: fc.constantFrom(0, 0, 0, 0, 1, 2),
    calls: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ bound, percent, ...rest }): Turn => ({
    ...rest,
    bound,
    cost: Math.floor((bound * percent) / 100),
  }));
const turns = (maxLength: number) => fc.array(turn, { minLength: 1, maxLength });
const step = turns(1).map((turns): Work => ({ tools: false, turns }));
const agent = turns(3).map((turns): Work => ({ tools: true, turns }));
const alone = (work: fc.Arbitrary<Work>) =>
  work.map((one): Part => ({ items: [one], concurrency: null }));
const map = fc.record<Part>({
  items: fc.oneof(step, agent).chain(({ tools }) =>
    // All items of a map are of one node.
    fc.array(tools ? agent : step, { minLength: 1, maxLength: 6 }),
  ),
  concurrency: fc.integer({ min: 1, max: 6 }),
});
const plan = fc.record({
  parts: fc.array(fc.oneof({ weight: 4, arbitrary: alone(step) }, alone(agent), map), {
    minLength: 1,
    maxLength: 5,
  }),
  // Half of the runs have none, which would keep them within a budget, too.
  cap: fc.option(fc.integer({ min: 1, max: 300 }), { freq: 2 }),
  place: fc.nat(),
  round: fc.constantFrom(0, 0, 0, 1, 2, 4, 8),
});
export const schedules = fc.record<Schedule>({
  overrun: fc.constantFrom('none', 'none', 'one_step'),
  plans: fc.array(plan, { minLength: 1, maxLength: 4 }).map((plans) =>
    plans.map(({ place, ...rest }, at) => ({
      ...rest,
      above: at === 0 || place % 3 === 0 ? null : place % at,
    })),
  ),
  budget: fc.option(
    fc
      .record({ estimate: fc.integer({ min: 1, max: 80 }), times: fc.integer({ min: 1, max: 6 }) })
      .map(({ estimate, times }) => ({ estimate, limit: estimate * times })),
  ),
  rounds: fc.array(
    fc.record({ asked: fc.integer({ min: 1, max: 6 }), ended: fc.integer({ min: 0, max: 4 }) }),
    { minLength: 1, maxLength: 12 },
  ),
});

/** A step as the ledger knows it, and what follows in its run when it ends. */
export interface Open extends Priced {
  runId: string;
  stepKey: string;
  nodeId: string;
  iteration: number[];
  agent?: AgentPart;
  follow: (ended: 'success' | 'blocked') => Open[];
}
/** The first steps of a part. A blocked step ends its work, like an item whose error is collected; other work continues. */
export function beginPart(runId: string, at: number, { items, concurrency }: Part): Open[] {
  const nodeId = `n${at}`;
  let begun = 0;
  const next = (): Open[] => {
    const work = items[begun];
    if (work === undefined) return [];
    begun += 1;
    const iteration = concurrency === null ? [] : [begun];
    const stepKey = [nodeId, ...iteration].join('#');
    return beginWork({ runId, stepKey, nodeId, iteration }, work, next);
  };
  return Array.from({ length: concurrency ?? 1 }, next).flat();
}

type Place = Pick<Open, 'runId' | 'stepKey' | 'nodeId' | 'iteration'>;

function beginWork(place: Place, { tools, turns }: Work, ended: () => Open[]): Open[] {
  if (!tools) return [{ ...place, ...turns[0]!, follow: ended }];
  const loop = createAgentLoop({});
  let open = 0;
  let blocked = false;
  const perform = (actions: AgentAction[]): Open[] => actions.flatMap(stepsOf);
  const after = (outcome: 'success' | 'blocked', actions: () => AgentAction[]): Open[] => {
    open -= 1;
    blocked ||= outcome === 'blocked';
    if (!blocked) return perform(actions());
    // Its calls in progress still end.
    return open === 0 ? ended() : [];
  };
  const stepsOf = (action: AgentAction): Open[] => {
    if (action.do === 'answer') return ended();
    if (action.do !== 'ask' && action.do !== 'call') throw new Error(`It has to ${action.do}`);
    open += 1;
    const { turn } = action;
    const part = { step_key: place.stepKey, turn };
    if (action.do === 'call') {
      const { index, tool } = action.call;
      const stepKey = callKey(place.stepKey, turn, index);
      const follow: Open['follow'] = (outcome) => after(outcome, () => loop.settled(index));
      const agent = { ...part, call: index, tool };
      return [{ ...place, stepKey, agent, bound: 0, cost: 0, failures: 0, follow }];
    }
    const { calls, ...priced } = turns[turn - 1]!;
    const progress: TurnProgress =
      turn === turns.length
        ? { answer: null }
        : { calls: Array.from({ length: calls }, (_, at) => callOf(at + 1)) };
    const follow: Open['follow'] = (outcome) => after(outcome, () => loop.asked(progress));
    return [{ ...place, ...priced, stepKey: turnKey(place.stepKey, turn), agent: part, follow }];
  };
  return perform(loop.start());
}

const callOf = (index: number) => ({ index, tool: 'http_request', needs_approval: false });
