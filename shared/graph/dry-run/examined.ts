import type { DryRunVerdict } from '#shared/contract/workflows/dry-run.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import type { CalledWorkflow } from '#shared/graph/children/called-workflows.ts';
import { type Bounds, ZERO } from './bounds.ts';
import type { Knowledge, Left } from './knowledge.ts';
import type { DryRunAnalysis, DryRunRequest } from './request.ts';
import type { Judging } from './verdicts.ts';

/** What is known of one execution of a node before it runs. */
export interface Examined extends Left {
  /** It can fail, or every execution does. */
  fails: 'always' | 'maybe' | 'never';
  /** Of a loop or a map: a node in its body can make it fail. */
  failsInBody?: boolean;
  /** Of a condition whose result is known. */
  result?: boolean;
  /** Of a loop or a map: iterations or items of one execution. */
  rounds: Bounds;
  /** In micro-dollars and ms, of all attempts. */
  cost: Bounds;
  duration: Bounds;
  verdicts: DryRunVerdict[];
  /** The work of its expression, in units of a WorkBudget. */
  work: number;
  /** The runs that it can start. */
  children: Child[];
}

interface Child {
  id: string;
  name: string;
  analysis: DryRunAnalysis;
}

/** What the run of a called workflow can do; without an analysis it cannot run, so that every call fails. */
export type ChildOf = (
  call: CalledWorkflow,
) => Child | (Omit<Child, 'analysis'> & { analysis?: undefined }) | undefined;

export interface Examining {
  request: DryRunRequest;
  knowledge: Knowledge;
  judging: Judging;
  /** For all known expressions of the graph. When it is used up, the rest counts as not known. */
  budget: WorkBudget;
  childOf: ChildOf;
  /** Conditions, loops and maps can fail because a run computes many of them between two steps. */
  crowded: boolean;
}

/** A node that does nothing and writes anything. */
export const NOTHING: Omit<Examined, 'fails'> = {
  never: false,
  bytes: null,
  rounds: ZERO,
  cost: ZERO,
  duration: ZERO,
  verdicts: [],
  work: 0,
  children: [],
};

/** The most bytes of an output that only says what a node did: `{iterations, exhausted}` and the like. */
export const SHORT_OUTPUT = 100;
