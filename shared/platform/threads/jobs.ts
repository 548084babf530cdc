import type { EvaluationCheck, Evals } from '../../contract/graph.ts';
import type { Policies } from '../../contract/policy.ts';
import { createBoundedCache } from '../../values/bounded-cache.ts';
import type { CheckedRun } from '../../graph/checks.ts';
import type { GraphDiff } from '../../graph/diff.ts';
import type { CheckedGraph } from '../../graph-check.ts';
import type { ValidationContext } from '../../graph/validate/validate.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { CompiledPolicies, Judgement, StepToJudge } from '../../policy/judge.ts';
import type { PolicyPatternProblem } from '../../policy/patterns.ts';

/** Processor time that all checks of a run may take before the next one is not begun. */
const MAX_CHECKS_MS = 1_000;
/** Many searches may share this; what one may take ends them first. */
const AMPLE_WORK = 1_000_000_000;
/** Workspaces whose compiled policies a thread remembers. */
const MAX_POLICIES = 20;

/** What became of something that may be wrong in itself. */
export type Outcome<Value> = { value: Value } | { problem: string };
/** A schema that is at fault itself, or what is wrong with the value held to it; neither when it fits. */
export interface SchemaOutcome {
  schemaProblem?: string;
  problem?: string;
}

type Tell = (what: string) => void;

/**
 * What threads do, by name. Each takes and gives what can be sent between threads, and loads its modules when it is
 * first asked for: a thread that only knows expressions is there in a tenth of a second.
 */
export const jobs = {
  /** An expression's value over a scope. */
  evaluate: async (input: { expression: string; scope: JsonObject }): Promise<Outcome<Json>> => {
    const { evaluateExpression, ExpressionError } =
      await import('../../graph/expression/expression.ts');
    try {
      return { value: evaluateExpression(input.expression, input.scope) };
    } catch (error) {
      if (error instanceof ExpressionError) return { problem: error.message };
      throw error;
    }
  },

  checks: async (
    input: { checks: EvaluationCheck[]; run: CheckedRun },
    tell: Tell,
  ): Promise<Evals> => {
    const { evaluateChecks } = await import('../../graph/checks.ts');
    const spent = stopwatch();
    return evaluateChecks(input.checks, input.run, {
      budget: { work: AMPLE_WORK },
      outOfTime: () => spent() > MAX_CHECKS_MS,
      onCheck: (name) => tell(`check '${name}'`),
    });
  },

  /** `policies` as JSON: a text goes over quickly, and is what the compiled ones are remembered by. */
  judge: async (
    input: { policies: string; step: StepToJudge },
    tell: Tell,
  ): Promise<Omit<Judgement, 'fallbackVerdict'>> => {
    const { compilePolicies, judgeStep } = await import('../../policy/judge.ts');
    const policies = compiledPolicies(input.policies, () =>
      compilePolicies(JSON.parse(input.policies) as Policies),
    );
    const { fallbackVerdict: _here, ...judgement } = judgeStep(policies, input.step, {
      budget: { work: 100_000_000 },
      onRule: tell,
    });
    return judgement;
  },

  /** The first pattern of the policies that RE2 does not know. */
  policyPatterns: async (
    input: { policies: Policies },
    tell: Tell,
  ): Promise<PolicyPatternProblem | undefined> => {
    const { policyPatternProblem } = await import('../../policy/patterns.ts');
    return policyPatternProblem(input.policies, tell);
  },

  /** Whether a schema is one that arguments can be held to. */
  schema: async (input: { schema: JsonObject }): Promise<SchemaOutcome> => {
    const { checkArgumentSchema } = await import('../calls/argument-schema.ts');
    return judgedBySchema(() => {
      checkArgumentSchema(input.schema);
      return undefined;
    });
  },

  arguments: async (input: { schema: JsonObject; args: JsonObject }): Promise<SchemaOutcome> => {
    const { argumentsProblem } = await import('../calls/argument-schema.ts');
    return judgedBySchema(() => argumentsProblem(input.schema, input.args));
  },

  /** A model's answer against the node's response schema. */
  answer: async (input: { schema: JsonObject; answer: Json }): Promise<SchemaOutcome> => {
    const { responseProblem } = await import('../calls/response-schema.ts');
    const problem = responseProblem(input.schema, input.answer);
    return problem === undefined ? {} : { problem };
  },

  checkGraph: async (input: {
    graph: unknown;
    context: ValidationContext;
  }): Promise<CheckedGraph> => {
    const { checkGraph } = await import('../../graph-check.ts');
    return checkGraph(input.graph, input.context);
  },

  diffGraphs: async (input: { from: unknown; to: unknown }): Promise<GraphDiff> => {
    const { diffGraphs } = await import('../../graph/diff.ts');
    return diffGraphs(input.from, input.to);
  },
};

export type JobName = keyof typeof jobs;
export type JobInput<Name extends JobName> = Parameters<(typeof jobs)[Name]>[0];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<(typeof jobs)[Name]>>;

const compiledPolicies = createBoundedCache<string, CompiledPolicies>(MAX_POLICIES);

async function judgedBySchema(judge: () => string | undefined): Promise<SchemaOutcome> {
  const { ArgumentSchemaError } = await import('../calls/argument-schema.ts');
  try {
    const problem = judge();
    return problem === undefined ? {} : { problem };
  } catch (error) {
    if (error instanceof ArgumentSchemaError) return { schemaProblem: error.message };
    throw error;
  }
}

/** Processor time of this thread from now on, in ms; by the clock where Node does not tell (before 23.9). */
function stopwatch(): () => number {
  const used = (): number => {
    if (!('threadCpuUsage' in process)) return performance.now();
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const began = used();
  return () => used() - began;
}
