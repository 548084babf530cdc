import type { DryRunVerdict } from '#shared/contract/workflows/dry-run.ts';
import type { AgentNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { CompiledPolicies, Judgment, judgeStep } from '#shared/policies/judge.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';

/** What the policies decide about a node before it runs. */
export interface Judged {
  verdicts: DryRunVerdict[];
  /** Whether every execution is refused, or could be. */
  blocked: 'always' | 'maybe' | 'never';
  /** The redacted parameters; undefined when they are unknown. */
  params: JsonObject | undefined;
}

/** The policies, and the judge that applies them, because the graph engine cannot import it. */
export interface Judge {
  policies: CompiledPolicies;
  judgeStep: typeof judgeStep;
}

export interface Judging extends Judge {
  workflowId: string;
  /** For all nodes together. When it is used up, the remaining verdicts are `at_run_time`. */
  budget: WorkBudget;
}

/** The parameters of a node as far as they are known. `complete`: all of them are known. */
export interface KnownParams {
  params: JsonObject;
  /** The names of the unknown ones. */
  open: readonly string[];
}

const DEPENDS = 'It depends on values that are known when the step runs';

/** Judges an agent. `state` is what it is sent without a prompt; undefined when it is unknown. */
export function judgeAgent(
  judging: Judging,
  node: AgentNode,
  { params, open }: KnownParams,
  state: JsonObject | undefined,
): Judged {
  const { policies } = judging;
  if (policies.models === undefined && policies.redactor === undefined && tools(judging, node)) {
    return { verdicts: [], blocked: 'never', params: open.length === 0 ? params : undefined };
  }
  const asksState = params['prompt'] === undefined && !open.includes('prompt');
  const known = open.length === 0 && (!asksState || state !== undefined);
  const judgment = judge(judging, { node: { ...node, mock: undefined }, params, state });
  const verdicts: DryRunVerdict[] = [];
  const model = judgment?.verdicts.find(({ policy }) => policy === 'model_allowlist');
  if (policies.models !== undefined) {
    verdicts.push(
      model === undefined
        ? allowed('model_allowlist', `Model '${node.model}' is allowed`)
        : { policy: 'model_allowlist', decision: 'blocked', reason: model.reason },
    );
  }
  for (const fallback of node.fallback_models ?? []) {
    const reason = judgment?.fallbackVerdict(fallback)?.reason;
    if (reason !== undefined) verdicts.push({ policy: 'fallback', decision: 'blocked', reason });
  }
  if (judgment === undefined && policies.models !== undefined) {
    verdicts.splice(0, 1, { policy: 'model_allowlist', decision: 'at_run_time', reason: DEPENDS });
    verdicts.push({ policy: 'fallback', decision: 'at_run_time', reason: DEPENDS });
  }
  if (model !== undefined) return { verdicts, blocked: 'always', params: undefined };
  const later = node.tools !== undefined;
  const redacted = redactionVerdict(policies, judgment, known && !later);
  verdicts.push(...redacted.verdicts, ...offeredVerdicts(judging, node));
  return {
    verdicts,
    blocked: judgment === undefined ? 'maybe' : redacted.blocked,
    params: known && judgment !== undefined ? judgment.params : undefined,
  };
}

const tools = ({ policies }: Judging, node: AgentNode): boolean =>
  agentToolsOf(node).every(({ name }) => !policies.tools.has(name));

/** Judges a tool or, under all names of the workflow, the start of a run. */
export function judgeTool(
  judging: Judging,
  node: ToolNode,
  { params, open }: KnownParams,
  aliases: readonly string[] = [],
): Judged {
  const { policies } = judging;
  const rules = [node.tool_name, ...aliases].flatMap((name) => policies.tools.get(name) ?? []);
  const complete = open.length === 0;
  if (rules.length === 0 && policies.redactor === undefined) {
    return { verdicts: [], blocked: 'never', params: complete ? params : undefined };
  }
  const judgment = judge(judging, { node, params, aliases });
  const broken = judgment?.verdicts.find(({ policy }) => policy.startsWith('tool_'));
  if (broken !== undefined) {
    const { policy, reason } = broken;
    return {
      verdicts: [{ policy: policy as DryRunVerdict['policy'], decision: 'blocked', reason }],
      blocked: 'always',
      params: undefined,
    };
  }
  const checked = rules.flatMap(({ blocked_arguments = [] }) => blocked_arguments);
  const waits =
    checked.length > 0 &&
    (judgment === undefined ||
      checked.some(({ argument }) => isOpen(argument.split('.')[0]!, open)));
  const redacted = redactionVerdict(policies, judgment, complete);
  return {
    verdicts: [
      ...(rules.length === 0
        ? []
        : [allowed('tool_permission', `Tool '${node.tool_name}' is allowed in this workflow`)]),
      ...(checked.length === 0 ? [] : [argumentVerdict(waits)]),
      ...redacted.verdicts,
    ],
    blocked: redacted.blocked === 'never' && waits ? 'maybe' : redacted.blocked,
    params: complete && judgment !== undefined ? judgment.params : undefined,
  };
}

/** A request's query becomes part of its address. */
const isOpen = (argument: string, open: readonly string[]): boolean =>
  open.includes(argument) || (argument === 'url' && open.includes('query'));

const argumentVerdict = (waits: boolean): DryRunVerdict =>
  waits
    ? { policy: 'tool_argument', decision: 'at_run_time', reason: DEPENDS }
    : allowed('tool_argument', 'No argument has a blocked value');

const allowed = (policy: DryRunVerdict['policy'], reason: string): DryRunVerdict => ({
  policy,
  decision: 'allowed',
  reason,
});

/** Undefined when there is not enough work left. */
function judge(
  { policies, judgeStep, workflowId, budget }: Judging,
  step: {
    node: AgentNode | ToolNode;
    params: JsonObject;
    state?: JsonObject | undefined;
    aliases?: readonly string[];
  },
): Judgment | undefined {
  if (budget.work < 0) return undefined;
  const judgment = judgeStep(
    policies,
    { workflowId, ...step, state: step.state ?? {} },
    { budget },
  );
  return budget.work < 0 ? undefined : judgment;
}

/** `known`: everything that the node sends is known. */
function redactionVerdict(
  { redactor }: CompiledPolicies,
  judgment: Judgment | undefined,
  known: boolean,
): Pick<Judged, 'verdicts' | 'blocked'> {
  if (redactor === undefined) return { verdicts: [], blocked: 'never' };
  if (judgment?.refusal !== undefined) {
    const { refusal: reason } = judgment;
    return { verdicts: [{ policy: 'dlp', decision: 'blocked', reason }], blocked: 'always' };
  }
  const found = judgment?.verdicts.find(({ policy }) => policy === 'dlp');
  if (found !== undefined) {
    const parts = Object.entries(found.evidence).map(([name, count]) => `${Number(count)} ${name}`);
    const reason = `Redacted before sending: ${parts.join(', ')}${known ? '' : ', and maybe more'}`;
    return {
      verdicts: [{ policy: 'dlp', decision: 'redacted', reason }],
      blocked: known ? 'never' : 'maybe',
    };
  }
  if (known && judgment !== undefined) {
    const reason = 'Nothing that it sends is redacted';
    return { verdicts: [allowed('dlp', reason)], blocked: 'never' };
  }
  const reason = DEPENDS;
  return { verdicts: [{ policy: 'dlp', decision: 'at_run_time', reason }], blocked: 'maybe' };
}

/** Judges the tools that an agent offers. A refused call does not fail the agent: its model gets the reason. */
function offeredVerdicts(judging: Judging, node: AgentNode): DryRunVerdict[] {
  return agentToolsOf(node).flatMap(({ name, fixed = {} }): DryRunVerdict[] => {
    const rules = judging.policies.tools.get(name);
    if (rules === undefined) return [];
    const literal = Object.fromEntries(
      Object.entries(fixed).filter(([, value]) => !holdsBraces(value)),
    );
    const called: ToolNode = { id: node.id, kind: 'tool', tool_name: name, params: {} };
    const bare = { ...judging, policies: { ...judging.policies, redactor: undefined } };
    const broken = judge(bare, { node: called, params: literal })?.verdicts[0];
    if (broken !== undefined) {
      const { reason } = broken;
      return [{ policy: broken.policy as DryRunVerdict['policy'], decision: 'blocked', reason }];
    }
    const permitted = allowed('tool_permission', `Tool '${name}' is allowed in this workflow`);
    const reason = `Arguments of '${name}': ${DEPENDS.toLowerCase()}`;
    return (rules.blocked_arguments ?? []).length === 0
      ? [permitted]
      : [permitted, { policy: 'tool_argument', decision: 'at_run_time', reason }];
  });
}

/** Whether the value contains a text that could be a template. */
const holdsBraces = (value: Json): boolean => {
  if (typeof value === 'string') return value.includes('{') || value.includes('}');
  if (Array.isArray(value)) return value.some(holdsBraces);
  return isObject(value) && Object.values(value).some(holdsBraces);
};
