import type { DryRunVerdict } from '#shared/contract/workflows/dry-run.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import type { CalledWorkflow } from '#shared/graph/children/called-workflows.ts';
import { type Bounds, ZERO } from './bounds.ts';
import type { Knowledge, Left } from './knowledge.ts';
import type { DryRunAnalysis, DryRunRequest } from './request.ts';
import type { Judging } from './verdicts.ts';

/** What is known about one execution of a node before it runs. */
export interface Examined extends Left {
  /** Whether executions can fail, or always fail. */
  fails: 'always' | 'maybe' | 'never';
  /** For a loop or a map: a node in its body can make it fail. */
  failsInBody?: boolean;
  /** Whether what follows it waits for a decision, although it has been reached. */
  waits?: 'maybe' | 'always';
  /** For a condition whose result is known. */
  result?: boolean;
  /** For a loop or a map: the iterations or items of one execution. */
  rounds: Bounds;
  /** For all attempts, in micro-dollars and ms. */
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

/** What the run of a called workflow can do. Without an analysis it cannot run, so every call fails. */
export type ChildOf = (
  call: CalledWorkflow,
) => Child | (Omit<Child, 'analysis'> & { analysis?: undefined }) | undefined;

export interface Examining {
  request: DryRunRequest;
  knowledge: Knowledge;
  judging: Judging;
  /** For all known expressions of the graph. When it is used up, the rest counts as unknown. */
  budget: WorkBudget;
  childOf: ChildOf;
  /** Whether conditions, loops and maps can fail because a run computes many of them between two steps. */
  crowded: boolean;
}

/** A node that does nothing and can write anything. */
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

/** The maximum size, in bytes, of an output that only reports what a node did, such as `{iterations, exhausted}`. */
export const SHORT_OUTPUT = 100;
