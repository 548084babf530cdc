import type { Policies } from '#client/index.ts';

export type DetectorName = Policies['redaction']['detectors'][number];
export type Redaction = Policies['redaction'];
type ToolPolicy = Policies['tools'][number];
type BlockedArgument = NonNullable<ToolPolicy['blocked_arguments']>[number];

/**
 * The policies in the form. Input may be invalid while the user types. Rows have keys, so that fields keep their state
 * when a row above them is removed.
 */
export interface PolicyDraft {
  restrictModels: boolean;
  models: string[];
  tools: ToolDraft[];
  detectors: DetectorName[];
  patterns: PatternDraft[];
  limits: LimitDraft[];
}

/** The numbers are texts while the user types; an empty one is no limit. */
export interface LimitDraft {
  key: number;
  of: 'tools' | 'models';
  names: string[];
  concurrency: number | '';
  perMinute: number | '';
  by: string;
}

export interface ToolDraft {
  key: number;
  tool: string;
  /** Undefined allows every workflow. */
  workflowIds: string[] | undefined;
  rules: RuleDraft[];
}

export interface RuleDraft {
  key: number;
  argument: string;
  by: 'values' | 'pattern';
  /** One value per line. */
  values: string;
  pattern: string;
}

export interface PatternDraft {
  key: number;
  name: string;
  regex: string;
}

let lastKey = 0;
const newKey = (): number => ++lastKey;

export const newTool = (): ToolDraft => ({
  key: newKey(),
  tool: '',
  workflowIds: undefined,
  rules: [],
});
export const newRule = (): RuleDraft => ({
  key: newKey(),
  argument: '',
  by: 'values',
  values: '',
  pattern: '',
});
export const newLimit = (): LimitDraft => ({
  key: newKey(),
  of: 'tools',
  names: [],
  concurrency: 1,
  perMinute: '',
  by: '',
});
export const newPattern = (): PatternDraft => ({ key: newKey(), name: '', regex: '' });

export const draftOf = (policies: Policies): PolicyDraft => ({
  restrictModels: policies.model_allowlist !== null,
  models: policies.model_allowlist ?? [],
  tools: policies.tools.map((each) => ({
    key: newKey(),
    tool: each.tool,
    workflowIds: each.allowed_workflow_ids,
    rules: (each.blocked_arguments ?? []).map((rule) => ({
      key: newKey(),
      argument: rule.argument,
      by: rule.pattern === undefined ? 'values' : 'pattern',
      values: linesOf(rule.values ?? []),
      pattern: rule.pattern ?? '',
    })),
  })),
  detectors: policies.redaction.detectors,
  patterns: policies.redaction.patterns.map((each) => ({ key: newKey(), ...each })),
  limits: policies.limits.map(({ tools, models, concurrency, per_minute, key }) => ({
    key: newKey(),
    of: models === undefined ? 'tools' : 'models',
    names: models ?? tools ?? [],
    concurrency: concurrency ?? '',
    perMinute: per_minute ?? '',
    by: key ?? '',
  })),
});

export const policiesOf = (draft: PolicyDraft): Policies => ({
  model_allowlist: draft.restrictModels ? draft.models : null,
  tools: draft.tools.map(({ tool, workflowIds, rules }) => ({
    tool: tool.trim(),
    ...(workflowIds !== undefined && { allowed_workflow_ids: workflowIds }),
    ...(rules.length > 0 && { blocked_arguments: rules.map(ruleOf) }),
  })),
  redaction: {
    detectors: draft.detectors,
    patterns: draft.patterns.map(({ name, regex }) => ({ name, regex })),
  },
  limits: draft.limits.map(({ of, names, concurrency, perMinute, by }) => ({
    ...(of === 'tools' ? { tools: names } : { models: names }),
    ...(concurrency !== '' && { concurrency }),
    ...(perMinute !== '' && { per_minute: perMinute }),
    ...(by.trim() !== '' && { key: by.trim() }),
  })),
});

function ruleOf({ argument, by, values, pattern }: RuleDraft): BlockedArgument {
  return by === 'pattern' ? { argument, pattern } : { argument, values: valuesOf(values) };
}

/** Whether two states of the policies are equal as JSON. */
export const sameValue = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * One value per line. A line of valid JSON is parsed (`5`, `true`, `["a"]`); any other line is a string, so that most
 * strings need no quotes. A string that would not be parsed as itself is quoted.
 */
export const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => (isPlain(value) ? value : JSON.stringify(value))).join('\n');

export const valuesOf = (lines: string): unknown[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (isJson(line) ? (JSON.parse(line) as unknown) : line));

const isPlain = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.trim() === value &&
  !value.includes('\n') &&
  !isJson(value);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
