import type {
  BacktestEffect,
  BacktestFinding,
  PolicyOutcome,
} from '#shared/contract/policies/backtest.ts';
import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import { detectorNames, type Policies } from '#shared/contract/policies/policy.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  type CompiledPolicies,
  countRedacted,
  fallbackVerdictOf,
  type JudgingLimits,
  refusalOf,
  type StepToJudge,
} from './judge.ts';
import { hasMark, RedactionError } from './redaction.ts';

/**
 * Judges recorded steps by policies that are not in force. A step's stored data is what the policies of its time let
 * through: if that is not enough to judge it, the step is hidden.
 */

/** A step as stored in the ledger. */
export interface RecordedStep {
  run_id: string;
  workflow_id: string;
  step_key: string;
  node_id: string;
  kind: 'agent' | 'tool';
  /** For a tool: its name. Null when its node is no longer known. */
  tool: string | null;
  /** For the start of a run: the names of the workflow as a tool. */
  aliases: string[];
  /** Whether it is a turn or a call of an agent with tools. */
  part: boolean;
  /** The model that responded; null for other steps. */
  model: string | null;
  input: JsonObject;
  /** For a call of an agent: its result, which the model reads. */
  result?: Json;
  verdicts: PolicyVerdict[];
  /** The error of a step that the policies refused. */
  refusal: string | null;
}

/** The policies of a backtest. */
export interface PoliciesToTest {
  compiled: CompiledPolicies;
  /** The names that they redact. */
  redacts: ReadonlySet<string>;
  /** Those of these names that the policies in force redact in the same way. */
  redactedInForce: ReadonlySet<string>;
}

/** The names in a redaction. */
const namesOf = ({ redaction }: Policies): string[] => [
  ...redaction.detectors,
  ...redaction.patterns.map(({ name }) => name),
];

/** The names that two policies redact in the same way. */
export function redactedByBoth(one: Policies, other: Policies): string[] {
  const regexes = new Map(other.redaction.patterns.map(({ name, regex }) => [name, regex]));
  return [
    ...one.redaction.detectors.filter((name) => other.redaction.detectors.includes(name)),
    ...one.redaction.patterns.flatMap(({ name, regex }) =>
      regexes.get(name) === regex ? [name] : [],
    ),
  ];
}

export const toTest = (
  policies: Policies,
  compiled: CompiledPolicies,
  inForce: readonly string[],
): PoliciesToTest => ({
  compiled,
  redacts: new Set(namesOf(policies)),
  redactedInForce: new Set(inForce),
});

/** `same`: no difference. `hidden`: the stored data is not enough to judge it. */
export type Comparison = 'same' | 'hidden' | BacktestFinding;

/** How a step was judged when it ran. */
interface Recorded {
  outcome: PolicyOutcome;
  /** Why it was refused. */
  refusal: string | undefined;
  /** It could not be searched, so none of its data was stored. */
  withheld: boolean;
  /** The number of redacted values, by name. */
  redacted: ReadonlyMap<string, number>;
  /** Fallback models that were skipped. */
  skipped: string[];
}

const REFUSING: ReadonlySet<string> = new Set([
  'tool_permission',
  'tool_argument',
  'model_allowlist',
]);
const WITHHELD = 'Nothing was sent: ';

function recordedOf({ verdicts, refusal }: RecordedStep): Recorded {
  const refusing = verdicts.find(({ policy }) => REFUSING.has(policy));
  const withheld = refusal?.startsWith(WITHHELD) === true ? refusal : undefined;
  const redacted = new Map<string, number>();
  for (const { policy, evidence } of verdicts) {
    if (policy !== 'dlp') continue;
    for (const [name, count] of Object.entries(evidence)) {
      redacted.set(name, (redacted.get(name) ?? 0) + Number(count));
    }
  }
  const refused = refusing?.reason ?? withheld;
  const sent = redacted.size > 0 ? 'redacted' : 'allowed';
  return {
    outcome: refused === undefined ? sent : 'blocked',
    refusal: refused,
    withheld: withheld !== undefined,
    redacted,
    skipped: verdicts.flatMap(({ policy, evidence }) =>
      policy === 'fallback' && typeof evidence['model'] === 'string' ? [evidence['model']] : [],
    ),
  };
}

/** Compares the judgment of a step with the recorded one. */
export function compareStep(
  policies: PoliciesToTest,
  step: RecordedStep,
  limits: JudgingLimits,
): Comparison {
  const node = nodeOf(step);
  if (node === undefined) return 'hidden';
  const before = recordedOf(step);
  const { model: _asked, ...prompts } = step.input;
  const judged: StepToJudge = {
    workflowId: step.workflow_id,
    node,
    params: node.kind === 'agent' ? prompts : step.input,
    state: {},
    aliases: step.aliases,
  };
  const differs = findingOf(step, before);
  const seen = { unreadable: before.withheld };
  const refusal = refusalOf(policies.compiled, judged, {
    ...limits,
    leavesOut: (found) => {
      const hidden = before.withheld || found.some(isMarked);
      seen.unreadable ||= hidden;
      return hidden;
    },
  });
  if (refusal !== undefined) {
    if (before.outcome === 'blocked') return 'same';
    return differs('would_block', 'blocked', refusal.reason);
  }
  if (seen.unreadable) return 'hidden';
  const fallback = usedFallback(policies.compiled, step);
  if (fallback !== undefined) return differs('would_block', 'blocked', fallback);
  return compareRedaction({ policies, step, judged, before, limits });
}

/** For a step that could not be judged in time, and would be refused. */
export function compareUnjudged(step: RecordedStep, reason: string): Comparison {
  const before = recordedOf(step);
  if (before.outcome === 'blocked') return 'same';
  const text = `${WITHHELD}looking through it by the workspace's policies failed: ${reason}`;
  return findingOf(step, before)('would_block', 'blocked', text);
}

function nodeOf({ kind, node_id: id, tool, input }: RecordedStep): ExecutedNode | undefined {
  if (kind === 'agent') {
    const model = input['model'];
    return typeof model === 'string' ? { id, kind, model } : undefined;
  }
  return tool === null ? undefined : { id, kind, tool_name: tool, params: {} };
}

const findingOf =
  ({ run_id, step_key, node_id }: RecordedStep, { outcome: before }: Recorded) =>
  (effect: BacktestEffect, after: PolicyOutcome, reason: string): BacktestFinding => ({
    effect,
    run_id,
    step_key,
    node_id,
    before,
    after,
    reason,
  });

/** Whether something was redacted in a value. */
function isMarked(value: Json): boolean {
  if (typeof value === 'string') return hasMark(value);
  if (Array.isArray(value)) return value.some(isMarked);
  return isObject(value) && Object.values(value).some(isMarked);
}

/** Why the model that responded would not have been called. */
function usedFallback(compiled: CompiledPolicies, { model, input }: RecordedStep) {
  if (model === null || model === input['model']) return undefined;
  return fallbackVerdictOf(compiled)(model)?.reason;
}

interface Redacting {
  policies: PoliciesToTest;
  step: RecordedStep;
  judged: StepToJudge;
  before: Recorded;
  limits: JudgingLimits;
}

/** Compares a step that these policies do not refuse. */
function compareRedaction(given: Redacting): Comparison {
  const { policies, step, before } = given;
  const differs = findingOf(step, before);
  const fresh = freshlyRedacted(given);
  if (typeof fresh === 'string') {
    if (before.outcome === 'blocked') return 'same';
    return differs('would_block', 'blocked', `${WITHHELD}${fresh}`);
  }
  const kept = [...before.redacted.keys()].filter((name) => isKept(policies, name));
  const after = fresh.size > 0 || kept.length > 0 ? 'redacted' : 'allowed';
  if (before.refusal !== undefined) {
    return differs('would_allow', after, `No longer refused: ${before.refusal}`);
  }
  if (fresh.size > 0) {
    return differs('would_redact', 'redacted', `${listed(fresh)} would be redacted`);
  }
  const lost = [...before.redacted].filter(([name]) => !isKept(policies, name));
  const unsearched = [...policies.redacts].filter((name) => !kept.includes(name));
  if (lost.length > 0) {
    // What was redacted may be found under another name that these policies add.
    if (unsearched.some((name) => !policies.redactedInForce.has(name))) return 'hidden';
    return differs('would_allow', after, `${listed(new Map(lost))} would no longer be redacted`);
  }
  const allowed = before.skipped.filter(
    (model) => fallbackVerdictOf(policies.compiled)(model) === undefined,
  );
  if (allowed.length > 0) {
    const models = allowed.map((model) => `'${model}'`).join(', ');
    return differs('would_allow', after, `Fallback model ${models} would be allowed`);
  }
  return isAskedByState(given) && unsearched.length > 0 ? 'hidden' : 'same';
}

/**
 * Whether what was redacted under a name would still be redacted. A pattern may have got another regular expression.
 */
const isKept = ({ redacts, redactedInForce }: PoliciesToTest, name: string): boolean =>
  redacts.has(name) && (isDetector(name) || redactedInForce.has(name));

const isDetector = (name: string): boolean => (detectorNames as readonly string[]).includes(name);

/** An agent without a prompt gets the whole state, which is not stored with its step. */
const isAskedByState = ({ step, judged }: Redacting): boolean =>
  step.kind === 'agent' && !step.part && judged.params['prompt'] === undefined;

/**
 * What these policies find in the stored data, by name; a text when they cannot search it. Names that were already
 * redacted when the step ran were searched for in all of its data, so a finding of the same name comes from the
 * redaction itself.
 */
function freshlyRedacted({
  policies,
  step,
  judged,
  before,
  limits,
}: Redacting): Map<string, number> | string {
  try {
    const counts = new Map(countRedacted(policies.compiled, judged, limits));
    if (step.result !== undefined) {
      for (const [name, count] of countRedacted(policies.compiled, resultOf(step), limits)) {
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    }
    for (const name of before.redacted.keys()) {
      if (isKept(policies, name)) counts.delete(name);
    }
    return counts;
  } catch (error) {
    if (error instanceof RedactionError) return error.message;
    throw error;
  }
}

/** The result of a call, which a model reads. No rules apply to a tool of this name, so only redaction does. */
const resultOf = ({ node_id: id, result = null }: RecordedStep): StepToJudge => ({
  workflowId: '',
  node: { id, kind: 'tool', tool_name: ' result', params: {} },
  params: { result },
  state: {},
});

function listed(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([name, count]) => `${count} ${name}`);
  return `${total} ${total === 1 ? 'value' : 'values'} (${parts.join(', ')})`;
}
