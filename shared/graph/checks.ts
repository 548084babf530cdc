import type {
  CheckResult,
  Evals,
  EvaluationCheck,
} from '#shared/contract/workflows/evaluation-check.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { evaluateExpression, truthy } from './expression/expression.ts';
import { memberOf, weighJson } from './json-value.ts';
import { matchesPattern } from '#shared/values/pattern.ts';
import { holdsText } from './expression/text-search.ts';
import { MAX_WORK, takeTextWork, takeWork, type WorkBudget } from '#shared/values/work-budget.ts';

/** The input of checks: a successful run. */
/** A run with its state and output as JSON texts. */
export type StoredRun = Omit<CheckedRun, 'state' | 'output'> & { state: string; output: string };

export const parseChecked = ({ state, output, ...run }: StoredRun): CheckedRun => ({
  ...run,
  state: JSON.parse(state) as CheckedRun['state'],
  output: JSON.parse(output) as CheckedRun['output'],
});

export interface CheckedRun {
  state: JsonObject;
  output: JsonObject;
  cost_usd: number;
  duration_ms: number;
}

/** The longest part of a checked text in a result; results are stored with every run. */
const MAX_SHOWN = 1000;

type TextCheck = Extract<
  EvaluationCheck,
  { type: 'contains' | 'not_contains' | 'equals' | 'regex' }
>;

/** The limits of all checks of a run. */
export interface CheckLimits {
  /** Shared by all checks. */
  budget: WorkBudget;
  /** Called before each check. Once it returns true, the remaining checks are skipped. */
  outOfTime?: () => boolean;
  /** Called with the name of each check before it runs. */
  onCheck?: (name: string) => void;
}

/**
 * Scores a run. Text checks compare texts, and the JSON of other values. Without `case_sensitive`, case is ignored.
 * Expressions read the state and, in addition, `output`, `cost_usd` and `duration_ms`. Never throws: a check fails with
 * a message if it cannot be evaluated, or if not enough work or time is left.
 */
export function evaluateChecks(
  checks: readonly EvaluationCheck[],
  run: CheckedRun,
  { budget, outOfTime = () => false, onCheck }: CheckLimits = { budget: { work: MAX_WORK } },
): Evals {
  let scope: JsonObject | undefined;
  const scoring: Scoring = {
    run,
    budget,
    texts: createTexts(budget),
    scope: () => {
      const { cost_usd, duration_ms, output, state } = run;
      return (scope ??= { cost_usd, duration_ms, output, ...state });
    },
  };
  const results = checks.map((check) => {
    onCheck?.(check.name);
    if (budget.work < 0 || outOfTime()) return failedCheck(check, USED_UP);
    return evaluateCheck(check, scoring);
  });
  return scored(results);
}

/** The result of checks that could not be evaluated at all. */
export const failedChecks = (checks: readonly EvaluationCheck[], message: string): Evals =>
  scored(checks.map((check) => failedCheck(check, message)));

const USED_UP = 'Not evaluated: the checks before it used up the limits of all checks of a run';

const scored = (results: CheckResult[]): Evals => ({
  passed: results.filter((result) => result.passed).length,
  total: results.length,
  results,
});

function failedCheck(check: EvaluationCheck, message: string): CheckResult {
  const { name, type, value } = check;
  return { name, type, expected: value, passed: false, actual: null, message };
}

interface Scoring {
  run: CheckedRun;
  budget: WorkBudget;
  texts: Texts;
  /** The scope of expressions. */
  scope: () => JsonObject;
}

function evaluateCheck(check: EvaluationCheck, scoring: Scoring): CheckResult {
  const result = { name: check.name, type: check.type, expected: check.value };
  try {
    return { ...result, ...outcomeOf(check, scoring) };
  } catch (error) {
    return failedCheck(
      check,
      error instanceof Error ? error.message : 'The check could not be evaluated',
    );
  }
}

function outcomeOf(
  check: EvaluationCheck,
  scoring: Scoring,
): { passed: boolean; actual: Json; message?: string } {
  const { run, budget, texts, scope } = scoring;
  switch (check.type) {
    case 'contains':
    case 'not_contains':
    case 'equals':
    case 'regex':
      return checkText(check, scoring);
    case 'max_cost_usd':
      return { passed: run.cost_usd <= check.value, actual: run.cost_usd };
    case 'max_duration_ms':
      return { passed: run.duration_ms <= check.value, actual: run.duration_ms };
    case 'expression': {
      const actual = evaluateExpression(check.value, scope(), budget);
      return { passed: truthy(actual), actual: texts.shown(actual) };
    }
  }
}

function checkText(
  check: TextCheck,
  { run, budget, texts }: Scoring,
): { passed: boolean; actual: Json; message?: string } {
  const target =
    check.target === undefined || check.target === '' ? run.output : find(run.state, check.target);
  if (target === undefined) {
    return { passed: false, actual: null, message: `The run has no '${check.target}'` };
  }
  const text = texts.of(target);
  const actual = texts.shown(target);
  const wanted = String(check.value);
  if (check.type === 'regex') {
    const ignoreCase = !check.case_sensitive;
    return { passed: matchesPattern(text, wanted, { ignoreCase, budget }), actual };
  }
  // The work to change case and to compare.
  if (!takeTextWork(budget, text.length * 2)) throw new Error(USED_UP);
  const fold = (value: string): string => (check.case_sensitive ? value : value.toLowerCase());
  switch (check.type) {
    case 'contains':
      return { passed: holdsText(fold(text), fold(wanted)), actual };
    case 'not_contains':
      return { passed: !holdsText(fold(text), fold(wanted)), actual };
    case 'equals':
      return { passed: fold(text) === fold(wanted), actual };
  }
}

/** Values as texts. Each is converted once, because many checks may use it. */
interface Texts {
  of: (value: Json) => string;
  /** A value, shortened for a result. */
  shown: (value: Json) => Json;
}

/** Serializing a key in sorted order costs about this many units. */
const WORK_PER_VALUE = 30;

function createTexts(budget: WorkBudget): Texts {
  const written = new Map<Json, string>();
  const of = (value: Json): string => {
    if (typeof value === 'string') return value;
    const known = written.get(value);
    if (known !== undefined) return known;
    // Measured first, up to the remaining work.
    const weight = weighJson(value, budget.work);
    if (!takeWork(budget, weight.values * WORK_PER_VALUE) || !takeTextWork(budget, weight.length)) {
      throw new Error(USED_UP);
    }
    const text = canonicalJson(value);
    written.set(value, text);
    return text;
  };
  const shown = (value: Json): Json => {
    const text = of(value);
    return text.length <= MAX_SHOWN ? value : `${text.slice(0, MAX_SHOWN)}…`;
  };
  return { of, shown };
}

// A key may contain a dot, so the longest existing key wins.
function find(value: Json, path: string): Json | undefined {
  const whole = memberOf(
    value,
    Array.isArray(value) && /^\d{1,9}$/.test(path) ? Number(path) : path,
  );
  if (whole !== undefined) return whole;
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const key = path.slice(0, dot);
    const inner = memberOf(
      value,
      Array.isArray(value) && /^\d{1,9}$/.test(key) ? Number(key) : key,
    );
    if (inner !== undefined) return find(inner, path.slice(dot + 1));
  }
  return undefined;
}
