import { notForAgents } from '../../../../../shared/agents/builtin-tools.ts';
import { isRecord, type JsonRecord, valueAt, withAt } from '../../../parts/data/record.ts';

/** An entry of an agent's tools as an object: a name alone is one without options. */
const recordOf = (entry: unknown): JsonRecord => (isRecord(entry) ? entry : { name: entry });

export const toolNameOf = (entry: unknown): string => {
  const { name } = recordOf(entry);
  return typeof name === 'string' ? name : JSON.stringify(entry);
};

/** The entry with another option; a name alone again when it has none. */
export function withOption(entry: unknown, option: string, value: unknown): unknown {
  const next = withAt(recordOf(entry), option, value);
  return Object.keys(next).length === 1 && typeof next['name'] === 'string' ? next['name'] : next;
}

export const optionOf = (entry: unknown, option: string): unknown =>
  valueAt(recordOf(entry), option);

/** The tools that an agent can still get. */
export const freeTools = (tools: readonly string[], entries: readonly unknown[]): string[] => {
  const taken = new Set(entries.map(toolNameOf));
  return tools.filter((name) => !taken.has(name) && !Object.hasOwn(notForAgents, name));
};

export type ApprovalMode = 'never' | 'always' | 'expression';

/** Any other text than `never` and `always` is an expression, also while it is empty. */
export function approvalMode(approval: unknown): ApprovalMode {
  if (approval === undefined || approval === 'never') return 'never';
  return approval === 'always' ? 'always' : 'expression';
}

/** What the mode is saved as. An expression starts empty. */
export const approvalOf: Record<ApprovalMode, string | undefined> = {
  never: undefined,
  always: 'always',
  expression: '',
};
