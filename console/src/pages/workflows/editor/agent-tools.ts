import { notForAgents } from '#shared/agents/builtin-tools.ts';
import type { Workflow } from '#client/index.ts';
import { asTool } from '#shared/tools.ts';
import { asksFirst, type ToolFacts } from './pickers/tool-facts.ts';
import { isRecord, type JsonRecord, valueAt, withAt } from '#console/src/parts/data/record.ts';

/** An entry of an agent's tools as an object. A plain name is an entry without options. */
const recordOf = (entry: unknown): JsonRecord => (isRecord(entry) ? entry : { name: entry });

export const toolNameOf = (entry: unknown): string => {
  const { name } = recordOf(entry);
  return typeof name === 'string' ? name : JSON.stringify(entry);
};

/** The entry with another option. Without options, it becomes a plain name again. */
export function withOption(entry: unknown, option: string, value: unknown): unknown {
  const next = withAt(recordOf(entry), option, value);
  return Object.keys(next).length === 1 && typeof next['name'] === 'string' ? next['name'] : next;
}

/** How a tool is added: people approve each call of one that can change something, until someone decides otherwise. */
export const addedTool = (name: string, facts: ToolFacts): unknown =>
  asksFirst(facts) ? withOption(name, 'approval', 'always') : name;

export const optionOf = (entry: unknown, option: string): unknown =>
  valueAt(recordOf(entry), option);

/** The tools that an agent does not have yet. */
export const freeTools = (tools: readonly string[], entries: readonly unknown[]): string[] => {
  const taken = new Set(entries.map(toolNameOf));
  return tools.filter((name) => !taken.has(name) && !Object.hasOwn(notForAgents, name));
};

type Named = Pick<Workflow, 'id' | 'name'>;

/** How a node refers to each workflow: by name, or by id if several have the name. In the same order. */
export function workflowReferences(workflows: readonly Named[]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of workflows) counts.set(name, (counts.get(name) ?? 0) + 1);
  return workflows.map(({ id, name }) => (counts.get(name) === 1 ? name : id));
}

/** The workflows that an agent can offer as tools: those with an input schema. */
export const workflowTools = (
  workflows: readonly (Named & Pick<Workflow, 'input_schema'>)[],
): string[] =>
  workflowReferences(workflows)
    .filter((_, at) => workflows[at]?.input_schema !== null)
    .map(asTool);

export type ApprovalMode = 'never' | 'always' | 'expression';

/** The approval of a node's steps, with its settings as an object. */
export const stepApprovalOf = (approval: unknown): JsonRecord =>
  isRecord(approval) ? approval : { when: approval };

/** How it is saved: a plain rule if there is no setting, and nothing if no approval is needed. */
export function savedApproval(approval: JsonRecord): unknown {
  const { when } = approval;
  if (approvalMode(when) === 'never') return undefined;
  return Object.keys(approval).length === 1 ? when : approval;
}

/** Any text other than `never` and `always` is an expression, even while it is empty. */
export function approvalMode(approval: unknown): ApprovalMode {
  if (approval === undefined || approval === 'never') return 'never';
  return approval === 'always' ? 'always' : 'expression';
}

/** How the mode is saved. An expression starts empty. */
export const approvalOf: Record<ApprovalMode, string | undefined> = {
  never: undefined,
  always: 'always',
  expression: '',
};
