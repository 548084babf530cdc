import type { CheckResult, Evals, EvaluationCheck } from '../contract/graph.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonicalJson } from './canonical-json.ts';
import { evaluateExpression, truthy } from './expression.ts';
import { memberOf } from './json-value.ts';
import { matchesPattern } from './pattern.ts';

/** What checks look at: a run that succeeded. */
export interface CheckedRun {
  state: JsonObject;
  output: JsonObject;
  cost_usd: number;
  duration_ms: number;
}

/** Longest piece of a checked text that a result repeats; results are kept with every run. */
const MAX_SHOWN = 1000;

type TextCheck = Extract<
  EvaluationCheck,
  { type: 'contains' | 'not_contains' | 'equals' | 'regex' }
>;

/**
 * Scores a run. Text checks compare text: of values that are none, their JSON. Without `case_sensitive` case counts
 * for nothing. Expressions read the state, and beside it `output`, `cost_usd` and `duration_ms`. Never throws: a
 * check that cannot be made has failed, with a message.
 */
export function evaluateChecks(checks: readonly EvaluationCheck[], run: CheckedRun): Evals {
  const results = checks.map((check) => evaluateCheck(check, run));
  return {
    passed: results.filter((result) => result.passed).length,
    total: results.length,
    results,
  };
}

function evaluateCheck(check: EvaluationCheck, run: CheckedRun): CheckResult {
  const result = { name: check.name, type: check.type, expected: check.value };
  try {
    return { ...result, ...outcomeOf(check, run) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The check could not be made';
    return { ...result, passed: false, actual: null, message };
  }
}

function outcomeOf(
  check: EvaluationCheck,
  run: CheckedRun,
): { passed: boolean; actual: Json; message?: string } {
  switch (check.type) {
    case 'contains':
    case 'not_contains':
    case 'equals':
    case 'regex':
      return checkText(check, run);
    case 'max_cost_usd':
      return { passed: run.cost_usd <= check.value, actual: run.cost_usd };
    case 'max_duration_ms':
      return { passed: run.duration_ms <= check.value, actual: run.duration_ms };
    case 'expression': {
      const { cost_usd, duration_ms, output } = run;
      const actual = evaluateExpression(check.value, {
        cost_usd,
        duration_ms,
        output,
        ...run.state,
      });
      return { passed: truthy(actual), actual: shown(actual) };
    }
  }
}

function checkText(
  check: TextCheck,
  run: CheckedRun,
): { passed: boolean; actual: Json; message?: string } {
  const target =
    check.target === undefined || check.target === '' ? run.output : find(run.state, check.target);
  if (target === undefined) {
    return { passed: false, actual: null, message: `The run has no '${check.target}'` };
  }
  const text = typeof target === 'string' ? target : canonicalJson(target);
  const actual = shown(target);
  const fold = (value: string): string => (check.case_sensitive ? value : value.toLowerCase());
  const wanted = String(check.value);
  switch (check.type) {
    case 'contains':
      return { passed: fold(text).includes(fold(wanted)), actual };
    case 'not_contains':
      return { passed: !fold(text).includes(fold(wanted)), actual };
    case 'equals':
      return { passed: fold(text) === fold(wanted), actual };
    case 'regex':
      return {
        passed: matchesPattern(text, wanted, { ignoreCase: !check.case_sensitive }),
        actual,
      };
  }
}

// A key may hold a dot itself, so the longest key that is there goes first.
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

function shown(value: Json): Json {
  const text = typeof value === 'string' ? value : canonicalJson(value);
  return text.length <= MAX_SHOWN ? value : `${text.slice(0, MAX_SHOWN)}…`;
}
