import type { BodyOf, CustomTool, JsonObject } from '#client/index.ts';
import { MAX_CODE_SECONDS } from '#shared/contract/workflows/code-node.ts';
import { MAX_TOOL_TIMEOUT_SECONDS } from '#shared/tools.ts';
import { toolProblems as texts } from '#console/src/messages/en/workspace/tools.ts';

/** A tool as edited in the form, without its schema. */
export interface ToolDraft {
  name: string;
  label: string;
  description: string;
  kind: CustomTool['kind'];
  method: CustomTool['method'];
  url: string;
  mcpTool: string;
  source: string;
  language: CustomTool['language'];
  headers: HeaderDraft[];
  timeout: number;
  retries: number;
  readOnly: boolean;
}

export interface HeaderDraft {
  key: number;
  name: string;
  /** Undefined keeps the stored value. */
  value: string | undefined;
}

/** The placeholder with which the service keeps the stored value. */
const KEPT = '***';
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

export const methods = [
  'POST',
  'GET',
  'HEAD',
  'PUT',
  'PATCH',
  'DELETE',
] as const satisfies readonly CustomTool['method'][];

let lastKey = 0;
export const newHeader = (name: string, value: string | undefined): HeaderDraft => ({
  key: ++lastKey,
  name,
  value,
});

export const draftOf = (tool: CustomTool | undefined): ToolDraft => ({
  name: tool?.name ?? '',
  label: tool?.label ?? '',
  description: tool?.description ?? '',
  kind: tool?.kind ?? 'http',
  method: tool?.method ?? 'POST',
  url: tool?.endpoint_url ?? '',
  mcpTool: tool?.mcp_tool ?? '',
  source: tool?.source ?? 'export default (args) => {\n  return args;\n};\n',
  language: tool?.language ?? 'javascript',
  headers: Object.entries(tool?.headers ?? {}).map(([name, value]) =>
    newHeader(name, value === KEPT ? undefined : value),
  ),
  timeout: tool?.timeout_seconds ?? 60,
  retries: tool?.retry_count ?? 1,
  readOnly: tool?.read_only ?? false,
});

export function toolOf(
  draft: ToolDraft,
  schema: JsonObject | undefined,
): BodyOf<'POST /api/tools'> {
  return {
    name: draft.name,
    label: draft.label,
    description: draft.description,
    kind: draft.kind,
    method: draft.method,
    endpoint_url: draft.kind === 'code' ? '' : draft.url.trim(),
    source: draft.kind === 'code' ? draft.source : null,
    language: draft.language,
    mcp_tool: draft.kind === 'mcp' ? draft.mcpTool.trim() : null,
    headers: draft.kind === 'code' ? {} : headersOf(draft.headers),
    input_schema: schema ?? null,
    timeout_seconds: Math.min(draft.timeout, longestTimeout(draft.kind)),
    retry_count: draft.retries,
    read_only: draft.readOnly,
  };
}

/** The fields that can be changed of a tool from an API document. */
export const textsOf = ({
  label,
  description,
  headers,
  timeout_seconds,
  retry_count,
  read_only,
}: BodyOf<'POST /api/tools'>): BodyOf<'PUT /api/tools/{id}'> => ({
  ...{ label, description, headers, timeout_seconds, retry_count, read_only },
});

/** In seconds. */
export const longestTimeout = (kind: CustomTool['kind']): number =>
  kind === 'code' ? MAX_CODE_SECONDS : MAX_TOOL_TIMEOUT_SECONDS;

/** Whether the draft says what is called, or computed. */
export const isComplete = ({ kind, url, source }: ToolDraft): boolean =>
  kind === 'code' ? source.trim() !== '' : url !== '';

export const headersOf = (headers: readonly HeaderDraft[]): Record<string, string> =>
  Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value ?? KEPT]));

export const urlProblem = (url: string): string | undefined =>
  url === '' || /^https?:\/\/./.test(url.trim()) ? undefined : texts.url;

export function headerProblem(headers: readonly HeaderDraft[]): string | undefined {
  const names = headers.map(({ name }) => name.trim().toLowerCase());
  if (new Set(names).size < names.length) return texts.headerTwice;
  return names.includes('') ? texts.headerWithoutName : undefined;
}

export type ToolProblems = Partial<Record<'name' | 'url' | 'mcpTool' | 'headers', string>>;

/** What prevents saving a tool, by field. Empty fields are not errors yet. */
export function toolProblems(draft: ToolDraft): ToolProblems {
  const problems: ToolProblems = {};
  if (draft.name !== '' && !NAME.test(draft.name)) {
    problems.name = texts.name;
  }
  const url = draft.kind === 'code' ? undefined : urlProblem(draft.url);
  if (url !== undefined) problems.url = url;
  if (draft.kind === 'mcp' && draft.mcpTool.trim() === '') problems.mcpTool = texts.mcpTool;
  const headers = headerProblem(draft.headers);
  if (headers !== undefined) problems.headers = headers;
  return problems;
}
