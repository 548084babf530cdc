import { type CallLimit, countedBy } from '#shared/contract/policies/policy.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { ExecutedNode } from '#shared/graph/kinds.ts';
import {
  parseTemplate,
  renderTemplate,
  TemplateError,
  templateReads,
} from '#shared/graph/expression/template.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  builtinTools,
  CODE,
  customToolName,
  isPureTool,
  isTimer,
  workflowOf,
} from '#shared/tools.ts';

/** Limits of the calls of tools and models. A call beyond one waits until another has ended, or is a minute old. */

/** A call that a limit counts. */
export interface CountedCall {
  limit: CallLimit;
  /** The tool or the model. */
  target: string;
  /** The value by which its calls are counted; null for a limit without a key. */
  key: string | null;
}

/** What the key of a limit reads. */
interface KeyScope {
  workflowId: string;
  args: JsonObject;
}

/** What a step calls; undefined when it only computes or waits inside the service. */
function calledBy(node: ExecutedNode): { tool: string } | { model: string } | undefined {
  switch (node.kind) {
    case 'agent':
      return { model: node.model };
    case 'tool':
      return isLimitable(node.tool_name) ? { tool: node.tool_name } : undefined;
    case 'code':
      return undefined;
    default:
      return node satisfies never;
  }
}

const isLimitable = (tool: string): boolean => !isPureTool(tool) && !isTimer(tool);

/** The limits that count the call of a step. */
export const countedCalls = (
  limits: readonly CallLimit[],
  node: ExecutedNode,
  scope: KeyScope,
): CountedCall[] => {
  const called = calledBy(node);
  if (called === undefined) return [];
  return 'model' in called
    ? countedModel(limits, called.model, scope)
    : counted(limits, ({ tools }) => tools, called.tool, scope);
};

/** The limits that count a call of this model. */
export const countedModel = (
  limits: readonly CallLimit[],
  model: string,
  scope: KeyScope,
): CountedCall[] => counted(limits, ({ models }) => models, model, scope);

function counted(
  limits: readonly CallLimit[],
  namesOf: (limit: CallLimit) => readonly string[] | undefined,
  target: string,
  scope: KeyScope,
): CountedCall[] {
  return limits
    .filter((limit) => namesOf(limit)?.some((name) => covers(name, target)) === true)
    .map((limit) => ({ limit, target, key: keyOf(limit, target, scope) }));
}

const covers = (name: string, target: string): boolean =>
  name.endsWith('*') ? target.startsWith(name.slice(0, -1)) : name === target;

/** Calls for which the key has no value are counted together, under the empty text. */
function keyOf({ key }: CallLimit, name: string, { workflowId, args }: KeyScope): string | null {
  if (key === undefined) return null;
  try {
    const value: Json = renderTemplate(key, { args, name, workflow_id: workflowId });
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch (error) {
    if (error instanceof TemplateError) return '';
    throw error;
  }
}

const KEY_READS = ['args', 'name', 'workflow_id'];

/** The first problem in the limits that their schema does not find, with its path. */
export function limitsProblem(
  limits: readonly CallLimit[],
  /** The names of the workspace's custom tools, with `custom:`. */
  customTools: ReadonlySet<string>,
): { path: string; message: string } | undefined {
  for (const [at, { tools = [], key }] of limits.entries()) {
    for (const [nth, tool] of tools.entries()) {
      const message = toolProblem(tool, customTools);
      if (message !== undefined) return { path: `limits.${at}.tools.${nth}`, message };
    }
    const message = key === undefined ? undefined : keyProblem(key);
    if (message !== undefined) return { path: `limits.${at}.key`, message };
  }
  return undefined;
}

function toolProblem(tool: string, customTools: ReadonlySet<string>): string | undefined {
  if (tool === CODE) return 'names code, which calls nothing, so it has no limit';
  if (workflowOf(tool) !== undefined) return 'names a workflow, whose runs are not calls';
  if (!isLimitable(tool)) return `names '${tool}', which calls nothing, so it has no limit`;
  if (tool.endsWith('*') || builtinTools.has(tool) || customTools.has(tool)) return undefined;
  if (customToolName(tool) !== undefined) {
    return `names '${tool}', which is not registered${hint(tool, customTools)}`;
  }
  return `names '${tool}', but there is no such tool${hint(tool, [...builtinTools, ...customTools])}`;
}

function keyProblem(key: string): string | undefined {
  const { doubtful } = parseTemplate(key);
  if (doubtful[0] !== undefined) return `has '${doubtful[0].text}', which is no reference`;
  const reads = templateReads(key);
  if (reads.length === 0) return 'reads nothing, so all calls would count together: leave it out';
  const unknown = reads.find((read) => !KEY_READS.includes(read.key));
  if (unknown === undefined) return undefined;
  return `reads '${unknown.key}', but has only args, name and workflow_id${hint(unknown.key, KEY_READS)}`;
}

/** What identifies the calls that count together within a workspace. */
export const scopeOf = ({ limit, key }: CountedCall): JsonObject => ({
  ...countedBy(limit),
  value: key,
});
