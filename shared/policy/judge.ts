import type { PolicyVerdict } from '../contract/governance.ts';
import type { ToolNode } from '../contract/graph.ts';
import type { ExecutedNode } from '../graph/kinds.ts';
import type { BlockedArgument, Policies, ToolPolicy } from '../contract/policy.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { isObject, weighJson } from '../graph/json-value.ts';
import { matchesPattern, PatternError } from '../values/pattern.ts';
import { MAX_WORK, takeWork, type WorkBudget } from '../values/work-budget.ts';
import type { Json, JsonObject } from '../json.ts';
import { compileRedaction, type Redaction, RedactionError, type Redactor } from './redaction.ts';

/** A workspace's policies, ready to judge by. */
export interface CompiledPolicies {
  models: ReadonlySet<string> | undefined;
  tools: ReadonlyMap<string, ToolPolicy>;
  redactor: Redactor | undefined;
}

export function compilePolicies(policies: Policies): CompiledPolicies {
  return {
    models: policies.model_allowlist === null ? undefined : new Set(policies.model_allowlist),
    tools: new Map(policies.tools.map((tool) => [tool.tool, tool])),
    redactor: compileRedaction(policies.redaction),
  };
}

/** A step about to begin: its node with the parameters as they were rendered, and the state it reads as a whole. */
export interface StepToJudge {
  workflowId: string;
  node: ExecutedNode;
  params: JsonObject;
  state: JsonObject;
}

/** What a judgement may take. Without it: what is right where nobody waits. */
export interface JudgingLimits {
  /** For everything that looks through text; below zero afterwards, the judgement is not to be used. */
  budget: WorkBudget;
  /** Called with each rule before it is applied. */
  onRule?: (what: string) => void;
}

export interface Judgement {
  /** Why the step may not go on, for the step's error. */
  refusal: string | undefined;
  verdicts: PolicyVerdict[];
  /** What the node may work with. */
  params: JsonObject;
  state: JsonObject;
  /** What may be kept of the parameters. */
  stored: JsonObject;
  /** The verdict against a fallback model; undefined when it may be asked. */
  fallbackVerdict: (model: string) => PolicyVerdict | undefined;
}

/**
 * What the policies say of a step before anything of it leaves. The same step and policies give the same judgement,
 * so that a step that is tried again is not judged twice.
 */
export function judgeStep(
  policies: CompiledPolicies,
  step: StepToJudge,
  limits?: JudgingLimits,
): Judgement {
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
    // What could not be looked through is neither sent nor kept.
    const reason = kept.refusal ?? `Nothing was sent: ${error.message}`;
    return { ...kept, refusal: reason, params: {}, state: {}, stored: {} };
  }
}

/** The verdicts against fallback models; undefined for those that may be asked. */
export const fallbackVerdictOf =
  (policies: CompiledPolicies) =>
  (model: string): PolicyVerdict | undefined =>
    modelVerdict(policies, model, 'fallback');

/** What is kept and sent of a step that could not be judged: nothing. */
export const unjudged = (policies: CompiledPolicies, reason: string): Judgement => ({
  refusal: `Nothing was sent: ${reason}`,
  verdicts: [],
  params: {},
  state: {},
  stored: {},
  fallbackVerdict: fallbackVerdictOf(policies),
});

function refusalOf(
  policies: CompiledPolicies,
  step: StepToJudge,
  limits: JudgingLimits | undefined,
): PolicyVerdict | undefined {
  const { node } = step;
  switch (node.kind) {
    case 'agent':
      return modelVerdict(policies, node.model, 'model_allowlist');
    case 'tool':
      return toolVerdict(policies, node, step, limits);
    default:
      return node satisfies never;
  }
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
  node: ToolNode,
  step: StepToJudge,
  limits: JudgingLimits | undefined,
): PolicyVerdict | undefined {
  const tool = node.tool_name;
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
    return isBlocked(rule, tool, step.params, budget);
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

/** What all patterns for blocked arguments may do for one step. */
const MAX_RULES_WORK = 5 * MAX_WORK;
/** What comparing one value takes. */
const UNITS_PER_VALUE = 30;

/** Parameters that their tool reads without regard to case: `delete` is as blocked as `DELETE`. */
const CASELESS: ReadonlySet<string> = new Set(['http_request.method']);

function isBlocked(
  rule: BlockedArgument,
  tool: string,
  params: JsonObject,
  budget: WorkBudget,
): boolean {
  const caseless = CASELESS.has(`${tool}.${rule.argument}`);
  const found = valuesAt(params, rule.argument.split('.'));
  if (rule.pattern !== undefined) {
    return found.some((value) => holdsMatch(value, rule.pattern ?? '', caseless, budget));
  }
  const keyOf = (value: Json): string =>
    canonicalJson(caseless && typeof value === 'string' ? value.toUpperCase() : value);
  const blocked = new Set(rule.values?.map(keyOf));
  return found.some((value) =>
    membersOf(value).some((member) => {
      const { values, length } = weighJson(member, budget.work);
      // Too much to be sure about is not let through.
      if (!takeWork(budget, values * UNITS_PER_VALUE + length)) return true;
      return blocked.has(keyOf(member));
    }),
  );
}

/** The values a path leads to. A step into a list is one into the member of that number, or into every member. */
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

/** A list counts as itself and as each of its members: one blocked address among ten is blocked. */
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
    // Too much text to be sure about is not let through.
    if (error instanceof PatternError) return true;
    throw error;
  }
}

/** Where a call goes, by tool: of a URL the part up to the path, of a mail the people it is for. */
const DESTINATION_URLS: Readonly<Record<string, string>> = {
  http_request: 'url',
  mcp: 'server_url',
};
const RECIPIENTS: Readonly<Record<string, readonly string[]>> = {
  send_email: ['to', 'cc', 'bcc', 'reply_to'],
};

/**
 * The sent and the stored data. A call's destination is not redacted, since without it there would be no call. So the
 * host of a URL stays, and recipients of an email stay in the sent data; so does the output of a mock model. In the
 * stored data, recipients and that output are redacted too, but not counted, since nothing was withheld.
 */
function redactStep(
  redaction: Redaction,
  begin: () => Redaction | undefined,
  step: StepToJudge,
): Pick<Judgement, 'params' | 'state' | 'stored'> {
  const { node, params } = step;
  const keptOnly = node.kind === 'agent' ? ['mock'] : recipientsOf(node);
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
  // Without a prompt an agent is asked about the whole state.
  const asksState = node.kind === 'agent' && params['prompt'] === undefined;
  return {
    params: Object.fromEntries(sent),
    stored: Object.fromEntries(stored),
    state: asksState ? redaction.redact(step.state) : step.state,
  };
}

const recipientsOf = (node: ToolNode): readonly string[] => own(RECIPIENTS, node.tool_name) ?? [];

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Scheme, host and port stay; a name and password before the host do not. */
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
    reason: `${total} ${total === 1 ? 'value was' : 'values were'} taken out before anything left: ${parts.join(', ')}`,
    evidence: Object.fromEntries(counts),
  };
}
