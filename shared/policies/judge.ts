import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { BlockedArgument, Policies, ToolPolicy } from '#shared/contract/policies/policy.ts';
import { CODE } from '#shared/tools.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { isObject, weighJson } from '#shared/graph/json-value.ts';
import { matchesPattern, PatternError } from '#shared/values/pattern.ts';
import { MAX_WORK, takeWork, type WorkBudget } from '#shared/values/work-budget.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { examined, named } from './arguments.ts';
import { compileRedaction, type Redaction, RedactionError, type Redactor } from './redaction.ts';

/** A workspace's policies, compiled. */
export interface CompiledPolicies {
  models: ReadonlySet<string> | undefined;
  tools: ReadonlyMap<string, ToolPolicy>;
  redactor: Redactor | undefined;
}

/** With `keepMarks`, earlier redactions are not found again: for data that was stored after a redaction. */
export function compilePolicies(
  policies: Policies,
  options: { keepMarks?: boolean } = {},
): CompiledPolicies {
  return {
    models: policies.model_allowlist === null ? undefined : new Set(policies.model_allowlist),
    tools: new Map(policies.tools.map((tool) => [tool.tool, tool])),
    redactor: compileRedaction(policies.redaction, options),
  };
}

/** A step before it starts: its node, its rendered parameters, and the whole state. */
export interface StepToJudge {
  workflowId: string;
  node: ExecutedNode;
  params: JsonObject;
  state: JsonObject;
  /** Further names of its tool. The rules for each of them apply. */
  aliases?: readonly string[];
}

/** Limits of one judgment. The defaults suit a background thread. */
export interface JudgingLimits {
  /** For all searches in texts. If it is negative afterward, the judgment is invalid. */
  budget: WorkBudget;
  /** Called with each rule before it is applied. */
  onRule?: (what: string) => void;
  /** Whether to leave out a rule for an argument, because of the values that it would examine. */
  leavesOut?: (found: readonly Json[]) => boolean;
}

export interface Judgment {
  /** Why the step is refused, for the step's error. */
  refusal: string | undefined;
  verdicts: PolicyVerdict[];
  /** The parameters and state that the node receives. */
  params: JsonObject;
  state: JsonObject;
  /** The parameters as they are stored. */
  stored: JsonObject;
  /** The verdict on a fallback model; undefined when it is allowed. */
  fallbackVerdict: (model: string) => PolicyVerdict | undefined;
}

/**
 * Applies the policies to a step before any of its data is sent. The same step and policies give the same judgment,
 * so a retry of the step does not need another one.
 */
export function judgeStep(
  policies: CompiledPolicies,
  step: StepToJudge,
  limits?: JudgingLimits,
): Judgment {
  const refusal = refusalOf(policies, step, limits);
  const redact = (): Redaction | undefined =>
    policies.redactor?.(limits && { budget: limits.budget, onFinder: limits.onRule });
  const redaction = redact();
  const kept = {
    refusal: refusal?.reason,
    verdicts: refusal === undefined ? [] : [refusal],
    fallbackVerdict: fallbackVerdictOf(policies),
  };
  if (redaction === undefined) {
    return { ...kept, params: step.params, state: step.state, stored: step.params };
  }
  try {
    const data = redactStep(redaction, redact, step);
    if (refusal === undefined && redaction.counts.size > 0) {
      kept.verdicts.push(redactionVerdict(redaction));
    }
    return { ...kept, ...data };
  } catch (error) {
    if (!(error instanceof RedactionError)) throw error;
    // Data that could not be searched is neither sent nor stored.
    const reason = kept.refusal ?? `Nothing was sent: ${error.message}`;
    return { ...kept, refusal: reason, params: {}, state: {}, stored: {} };
  }
}

/** The verdict on each fallback model; undefined for allowed models. */
export const fallbackVerdictOf =
  (policies: CompiledPolicies) =>
  (model: string): PolicyVerdict | undefined =>
    modelVerdict(policies, model, 'fallback');

/** For a step that could not be judged: it is refused, and nothing is sent or stored. */
export const unjudged = (policies: CompiledPolicies, reason: string): Judgment => ({
  refusal: `Nothing was sent: ${reason}`,
  verdicts: [],
  params: {},
  state: {},
  stored: {},
  fallbackVerdict: fallbackVerdictOf(policies),
});

/** The verdict that refuses a step; undefined when none does. */
export function refusalOf(
  policies: CompiledPolicies,
  step: StepToJudge,
  limits: JudgingLimits | undefined,
): PolicyVerdict | undefined {
  const { node } = step;
  switch (node.kind) {
    case 'agent':
      return modelVerdict(policies, node.model, 'model_allowlist');
    case 'tool':
      return firstOf([node.tool_name, ...(step.aliases ?? [])], (name) =>
        toolVerdict(policies, name, step, limits),
      );
    case 'code':
      return toolVerdict(policies, CODE, step, limits);
    default:
      return node satisfies never;
  }
}

function firstOf<Result>(
  names: readonly string[],
  find: (name: string) => Result | undefined,
): Result | undefined {
  for (const name of new Set(names)) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function modelVerdict(
  policies: CompiledPolicies,
  model: string,
  policy: 'model_allowlist' | 'fallback',
): PolicyVerdict | undefined {
  if (policies.models === undefined || policies.models.has(model)) return undefined;
  const slash = model.indexOf('/');
  const evidence = { model, provider: slash < 0 ? model : model.slice(0, slash) };
  if (policy === 'fallback') {
    const reason = `Fallback model '${model}' is not on the workspace's list of allowed models`;
    return { type: 'model_fallback_blocked', policy, decision: 'blocked', reason, evidence };
  }
  const reason = `Model '${model}' is not on the workspace's list of allowed models`;
  return { type: 'policy_denied', policy, decision: 'denied', reason, evidence };
}

function toolVerdict(
  policies: CompiledPolicies,
  tool: string,
  step: StepToJudge,
  limits: JudgingLimits | undefined,
): PolicyVerdict | undefined {
  const rules = policies.tools.get(tool);
  if (rules === undefined) return undefined;
  const allowed = rules.allowed_workflow_ids;
  if (allowed !== undefined && !allowed.includes(step.workflowId)) {
    return {
      type: 'policy_denied',
      policy: 'tool_permission',
      decision: 'denied',
      reason: `Tool '${tool}' is not allowed in this workflow`,
      evidence: { tool, workflow_id: step.workflowId },
    };
  }
  const budget = limits?.budget ?? { work: MAX_RULES_WORK };
  const broken = rules.blocked_arguments?.find((rule) => {
    limits?.onRule?.(`argument ${rule.argument}`);
    const found = valuesAt(step.params, rule.argument.split('.'));
    if (limits?.leavesOut?.(found) === true) return false;
    return isBlocked(rule, tool, examined(tool, rule.argument, found, step.params), budget);
  });
  if (broken === undefined) return undefined;
  const { argument } = broken;
  return {
    type: 'tool_argument_blocked',
    policy: 'tool_argument',
    decision: 'blocked',
    reason: `Argument '${argument}' of tool '${tool}' has a blocked value`,
    evidence: { tool, argument, rule: broken.pattern === undefined ? 'values' : 'pattern' },
  };
}

/** The limit for all patterns of blocked arguments, per step. */
const MAX_RULES_WORK = 5 * MAX_WORK;
/** The cost of comparing one value. */
const UNITS_PER_VALUE = 30;

/** Parameters for which the tool ignores case: a rule that blocks `DELETE` also blocks `delete`. */
const CASELESS: ReadonlySet<string> = new Set(['http_request.method']);

function isBlocked(
  rule: BlockedArgument,
  tool: string,
  found: readonly Json[],
  budget: WorkBudget,
): boolean {
  const caseless = CASELESS.has(`${tool}.${rule.argument}`);
  if (rule.pattern !== undefined) {
    return found.some((value) => holdsMatch(value, rule.pattern ?? '', caseless, budget));
  }
  const keyOf = (value: Json): string =>
    canonicalJson(caseless && typeof value === 'string' ? value.toUpperCase() : value);
  const blocked = new Set(named(tool, rule.argument, rule.values ?? []).map(keyOf));
  return found.some((value) =>
    membersOf(value).some((member) => {
      const { values, length } = weighJson(member, budget.work);
      // A value too large to compare counts as blocked.
      if (!takeWork(budget, values * UNITS_PER_VALUE + length)) return true;
      return blocked.has(keyOf(member));
    }),
  );
}

/** The values at a path. In a list, a number selects one member; other keys are looked up in every member. */
function valuesAt(value: Json, path: readonly string[]): Json[] {
  const [key, ...rest] = path;
  if (key === undefined) return [value];
  if (Array.isArray(value)) {
    const member = /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined;
    if (member !== undefined) return valuesAt(member, rest);
    return value.flatMap((each) => valuesAt(each, path));
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return [];
  return valuesAt(value[key] ?? null, rest);
}

/** The list and its members, at any depth, because one blocked address among ten blocks the call. */
const membersOf = (value: Json): Json[] =>
  Array.isArray(value) ? [value, ...value.flatMap(membersOf)] : [value];

function holdsMatch(
  value: Json,
  pattern: string,
  ignoreCase: boolean,
  budget: WorkBudget,
): boolean {
  if (Array.isArray(value)) {
    return value.some((each) => holdsMatch(each, pattern, ignoreCase, budget));
  }
  if (isObject(value)) {
    return Object.values(value).some((each) => holdsMatch(each, pattern, ignoreCase, budget));
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  try {
    return matchesPattern(text, pattern, { ignoreCase, budget });
  } catch (error) {
    // A text too long to search counts as blocked.
    if (error instanceof PatternError) return true;
    throw error;
  }
}

/** The destination of a call, by tool: the URL up to its path, or the recipients of an email. */
const DESTINATION_URLS: Readonly<Record<string, string>> = {
  http_request: 'url',
  mcp: 'server_url',
};
const RECIPIENTS: Readonly<Record<string, readonly string[]>> = {
  send_email: ['to', 'cc', 'bcc', 'reply_to'],
};

/**
 * The sent and the stored data. A call's destination is not redacted, since the call could not be made without it. So
 * the host of a URL stays, and in the sent data, so do an email's recipients and the output of a mock model. In the
 * stored data, these recipients and outputs are redacted, too, but not counted, since nothing was withheld.
 */
function redactStep(
  redaction: Redaction,
  begin: () => Redaction | undefined,
  step: StepToJudge,
): Pick<Judgment, 'params' | 'state' | 'stored'> {
  const { node, params } = step;
  const keptOnly =
    node.kind === 'agent' ? ['mock'] : node.kind === 'tool' ? recipientsOf(node) : [];
  const url = node.kind === 'tool' ? own(DESTINATION_URLS, node.tool_name) : undefined;
  const sendable = (key: string, value: Json): Json => {
    if (keptOnly.includes(key)) return value;
    if (key === url && typeof value === 'string') return redactUrl(redaction, value);
    return redaction.redact(value);
  };
  const sent = Object.entries(params).map(([key, value]) => [key, sendable(key, value)] as const);
  const stored = sent.map(([key, value]) =>
    keptOnly.includes(key)
      ? ([key, (begin() ?? redaction).redact(value)] as const)
      : ([key, value] as const),
  );
  // An agent without a prompt receives the whole state.
  const asksState = node.kind === 'agent' && params['prompt'] === undefined;
  return {
    params: Object.fromEntries(sent),
    stored: Object.fromEntries(stored),
    state: asksState ? redaction.redact(step.state) : step.state,
  };
}

/**
 * How many values the policies redact in a step's data, by name. Throws RedactionError for data that cannot be
 * searched.
 */
export function countRedacted(
  { redactor }: CompiledPolicies,
  step: StepToJudge,
  limits: JudgingLimits,
): Redaction['counts'] {
  const begin = () => redactor?.({ budget: limits.budget });
  const redaction = begin();
  if (redaction === undefined) return new Map();
  redactStep(redaction, begin, step);
  return redaction.counts;
}

const recipientsOf = (node: ToolNode): readonly string[] => own(RECIPIENTS, node.tool_name) ?? [];

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Keeps scheme, host and port. A user name and password before the host are redacted. */
function redactUrl(redaction: Redaction, url: string): string {
  const origin = /^https?:\/\/[^/?#\\@]*(?=[/?#]|$)/i.exec(url)?.[0] ?? '';
  return origin + redaction.redact(url.slice(origin.length));
}

function redactionVerdict({ counts }: Redaction): PolicyVerdict {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([name, count]) => `${count} ${name}`);
  return {
    type: 'data_redacted',
    policy: 'dlp',
    decision: 'redacted',
    reason: `${total} ${total === 1 ? 'value was' : 'values were'} redacted before sending: ${parts.join(', ')}`,
    evidence: Object.fromEntries(counts),
  };
}
