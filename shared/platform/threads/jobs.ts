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

/** Processor time of all checks of a run; after it no further check starts. */
const MAX_CHECKS_MS = 1_000;
/** High enough for many searches; the limit of a single search applies first. */
const AMPLE_WORK = 1_000_000_000;
/** Workspaces whose compiled policies a thread caches. */
const MAX_POLICIES = 20;

/** A result, or the error of invalid input. */
export type Outcome<Value> = { value: Value } | { problem: string };
/** An invalid schema, or a value that does not fit it; neither when it fits. */
export interface SchemaOutcome {
  schemaProblem?: string;
  problem?: string;
}

type Report = (what: string) => void;

/**
 * The jobs of threads, by name. Arguments and results can be sent between threads, and modules are loaded on first use:
 * a thread that only evaluates expressions is ready in a tenth of a second.
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
    report: Report,
  ): Promise<Evals> => {
    const { evaluateChecks } = await import('../../graph/checks.ts');
    const spent = stopwatch();
    return evaluateChecks(input.checks, input.run, {
      budget: { work: AMPLE_WORK },
      outOfTime: () => spent() > MAX_CHECKS_MS,
      onCheck: (name) => report(`check '${name}'`),
    });
  },

  /** `policies` as JSON: a text is sent quickly, and is the key of the compiled policies. */
  judge: async (
    input: { policies: string; step: StepToJudge },
    report: Report,
  ): Promise<Omit<Judgement, 'fallbackVerdict'>> => {
    const { compilePolicies, judgeStep } = await import('../../policy/judge.ts');
    const policies = compiledPolicies(input.policies, () =>
      compilePolicies(JSON.parse(input.policies) as Policies),
    );
    const { fallbackVerdict: _here, ...judgement } = judgeStep(policies, input.step, {
      budget: { work: 100_000_000 },
      onRule: report,
    });
    return judgement;
  },

  /** The first invalid RE2 pattern of the policies. */
  policyPatterns: async (
    input: { policies: Policies },
    report: Report,
  ): Promise<PolicyPatternProblem | undefined> => {
    const { policyPatternProblem } = await import('../../policy/patterns.ts');
    return policyPatternProblem(input.policies, report);
  },

  /** Whether a schema can validate arguments. */
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

  /** Whether a schema can validate the input of runs. */
  inputSchema: async (input: { schema: JsonObject }): Promise<SchemaOutcome> => {
    const { checkInputSchema } = await import('../calls/input-schema.ts');
    return judgedBySchema(() => {
      checkInputSchema(input.schema);
      return undefined;
    });
  },

  input: async (input: { schema: JsonObject; value: JsonObject }): Promise<SchemaOutcome> => {
    const { inputProblem } = await import('../calls/input-schema.ts');
    return judgedBySchema(() => inputProblem(input.schema, input.value));
  },

  /** A model's response against the node's response schema. */
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

/** Processor time of this thread from now on, in ms; wall-clock time where Node does not report it (before 23.9). */
function stopwatch(): () => number {
  const used = (): number => {
    if (!('threadCpuUsage' in process)) return performance.now();
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const began = used();
  return () => used() - began;
}
