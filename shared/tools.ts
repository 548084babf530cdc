import type { Json, JsonObject } from './json.ts';

/** The names of a tool's parameters. A list in `required` means that at least one of its names is required. */
export interface ToolParams {
  required: readonly (string | readonly string[])[];
  optional: readonly string[];
}

const assessment = ['verification_status', 'confidence', 'source_evidence'];

/** The parameters of each built-in tool. The tools themselves validate the values. */
export const toolParams = {
  http_request: { required: ['url'], optional: ['method', 'headers', 'query', 'body'] },
  send_email: {
    required: ['to', 'subject', ['text', 'html']],
    optional: ['cc', 'bcc', 'reply_to'],
  },
  send_chat_message: { required: ['text'], optional: ['webhook_url'] },
  json_transform: { required: ['expression'], optional: [] },
  delay: { required: ['seconds'], optional: [] },
  mcp: { required: ['server_url', 'tool'], optional: ['arguments', 'headers'] },
  entity_upsert: {
    required: ['feed_id', 'external_key', 'entity_type', 'canonical_name', 'attributes'],
    optional: ['aliases', 'external_ids', 'geography', 'status', 'observed_at', ...assessment],
  },
  event_emit: {
    required: [
      ...['feed_id', 'external_key', 'event_type'],
      ...['primary_external_key', 'occurred_at', 'summary'],
    ],
    optional: ['relevance_score', 'opportunity_score', 'match_reason', ...assessment],
  },
  entity_search: {
    required: [],
    optional: [
      ...['feed_id', 'external_key', 'entity_type', 'geography', 'confidence_min'],
      ...['updated_since', 'created_since', 'limit'],
    ],
  },
  feed_list: { required: [], optional: ['name', 'limit'] },
  source_report: { required: ['ok', ['source_id', 'name']], optional: ['error', 'checked_at'] },
  send_event: { required: ['name'], optional: ['data', 'id'] },
} satisfies Record<string, ToolParams>;

export type BuiltinTool = keyof typeof toolParams;

/** The tools of every workspace. `custom:<name>` tools are looked up in the workspace instead. */
export const builtinTools: ReadonlySet<string> = new Set(Object.keys(toolParams));

/** The name of all code in policies: of code nodes and of custom tools that are code. */
export const CODE = 'code';

/** The prefix of the names of custom tools. */
const CUSTOM = 'custom:';

/** The name of the custom tool that a node calls; undefined for a built-in one. */
export const customToolName = (toolName: string): string | undefined =>
  toolName.startsWith(CUSTOM) ? toolName.slice(CUSTOM.length) : undefined;

/** The names of the custom tools among these, without `custom:`, each once. */
export const customToolNames = (toolNames: readonly string[]): string[] => [
  ...new Set(toolNames.map(customToolName).filter((name) => name !== undefined)),
];

/** The name of a custom tool in graphs. */
export const calledAs = (name: string): string => CUSTOM + name;

/** The prefix of the names of workflows that an agent offers as tools. */
const WORKFLOW = 'workflow:';

/** The id or name of the workflow that a tool of an agent runs; undefined for other tools. */
export const workflowOf = (toolName: string): string | undefined =>
  toolName.startsWith(WORKFLOW) ? toolName.slice(WORKFLOW.length) : undefined;

/** A workflow, by id or name, as a tool of an agent. */
export const asTool = (workflow: string): string => WORKFLOW + workflow;

/** The longest timeout of a custom tool. */
export const MAX_TOOL_TIMEOUT_SECONDS = 3_600;

interface ToolTraits {
  /** Makes no external calls, and ends well within a second: see `laneOf`. */
  short?: boolean;
  /** Only computes, so running it twice does no harm. */
  pure?: boolean;
  /** Only waits within the run, on a timer of the server. */
  timer?: boolean;
  /**
   * What a call does to data and other systems. For `http_request` it depends on the method, for `mcp` on the server.
   */
  outside?: 'reads' | 'changes' | 'depends';
}

const toolTraits: Record<BuiltinTool, ToolTraits> = {
  http_request: { outside: 'depends' },
  send_email: { outside: 'changes' },
  send_chat_message: { outside: 'changes' },
  json_transform: { short: true, pure: true },
  delay: { timer: true },
  mcp: { outside: 'depends' },
  entity_upsert: { short: true, outside: 'changes' },
  event_emit: { short: true, outside: 'changes' },
  entity_search: { short: true, outside: 'reads' },
  feed_list: { short: true, outside: 'reads' },
  source_report: { short: true, outside: 'changes' },
  send_event: { short: true, outside: 'changes' },
};

const traitsOf = (toolName: string): ToolTraits =>
  Object.hasOwn(toolTraits, toolName) ? toolTraits[toolName as BuiltinTool] : {};

/** Whether a tool only computes, so that running it twice does no harm. */
export const isPureTool = (toolName: string): boolean => traitsOf(toolName).pure === true;

/** Whether a tool only waits within the run. */
export const isTimer = (toolName: string): boolean => traitsOf(toolName).timer === true;

/** What a call of a built-in tool does to data and other systems; undefined if it does nothing, and for other names. */
export const outsideOf = (toolName: string): ToolTraits['outside'] => traitsOf(toolName).outside;

const readingMethods: readonly string[] = ['GET', 'HEAD'];

/**
 * Whether a call can change data or another system. `method` is that of an `http_request` as saved: a computed method
 * counts as one that changes something, like every call of a custom tool or MCP server.
 */
export function writes(toolName: string, method: Json | undefined): boolean {
  if (isPureTool(toolName) || isTimer(toolName) || outsideOf(toolName) === 'reads') return false;
  if (toolName !== 'http_request') return true;
  return typeof method !== 'string' || !readingMethods.includes(method.toUpperCase());
}

/** Whether a call of a built-in tool reads something outside the run and changes nothing. `method` as for `writes`. */
export const onlyReads = (toolName: string, method: Json | undefined): boolean =>
  !isPureTool(toolName) && !isTimer(toolName) && !writes(toolName, method ?? 'GET');

/** The built-in tools that a rehearsal can execute when its request allows their names. */
export const toolsAllowedByName: readonly string[] = [...builtinTools].filter((name) => {
  const outside = outsideOf(name);
  return (outside === 'reads' || outside === 'depends') && name !== 'http_request';
});

/** Whether a tool makes no external calls and ends well within a second. */
export const isShortTool = (toolName: string): boolean => traitsOf(toolName).short === true;

const MAX_DELAY_SECONDS = 365 * 24 * 3600;

/**
 * Reads the parameters of `delay`: `{seconds}`, a number or, since templates render to text, a decimal string. Returns
 * errors instead of throwing them, because an error thrown in workflow code would stall the run.
 */
export function parseDelay(params: JsonObject): { seconds: number } | { error: string } {
  const extra = Object.keys(params).find((key) => key !== 'seconds');
  if (extra !== undefined) return { error: `delay: unknown parameter '${extra}'` };
  const parsed = parseSeconds(Object.hasOwn(params, 'seconds') ? params['seconds'] : undefined);
  return 'error' in parsed ? { error: `delay: 'seconds' ${parsed.error}` } : parsed;
}

/** How long something waits: a number, or a decimal string. */
export function parseSeconds(given: Json | undefined): { seconds: number } | { error: string } {
  const seconds =
    typeof given === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(given) ? Number(given) : given;
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= MAX_DELAY_SECONDS) {
    return { seconds };
  }
  return { error: `must be a number from 0 to ${MAX_DELAY_SECONDS}` };
}

/** A part of a URL template: literal text, or the value of a reference. */
export type UrlPart = { text: string } | { value: Json };

/** The URL up to the first character after the authority. The egress guard checks the host itself. */
const ORIGIN = /^https?:\/\/[^/?#\\\s]+[/?#]/i;
/** WHATWG URL treats %2e as a dot when it resolves `..`. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Inserts values into a URL so that each stays within its own path segment, query value or fragment: they are
 * percent-encoded and cannot climb with `..`, and the scheme, host and port before the first one must be literal.
 */
export function renderUrl(parts: readonly UrlPart[]): { url: string } | { error: string } {
  let url = '';
  for (const part of parts) {
    if ('text' in part) {
      url += part.text;
      continue;
    }
    if (!ORIGIN.test(url)) {
      return { error: 'a URL may hold references only after its host, like https://host/{key}' };
    }
    const text = typeof part.value === 'string' ? part.value : JSON.stringify(part.value);
    url += encodeURIComponent(text.toWellFormed());
  }
  const path = url.replace(ORIGIN, '').split(/[?#]/, 1)[0] ?? '';
  const holdsValue = parts.some((part) => 'value' in part);
  if (holdsValue && path.split(/[/\\]/).some((segment) => DOT_SEGMENT.test(segment))) {
    return { error: "a URL with references may not hold '.' or '..' as a path segment" };
  }
  return { url };
}
