import { type CustomTool, headerPlace } from '../db/custom-tools.ts';
import { isDeeperThan, type Json, type JsonObject } from '../json.ts';
import { NodeError } from '../node-error.ts';
import { argumentsProblem, ArgumentSchemaError } from './argument-schema.ts';
import type { Egress, EgressResponse } from './egress.ts';
import { callMcpTool } from './mcp-call.ts';
import { bodyOf, callOutside, isSuccess, statusFailure } from './outside-call.ts';
import { SealError, type Sealer } from './sealing.ts';

export interface CustomToolDeps {
  egress: Egress;
  /** Undefined without a key: then no tool has headers, unless there was one before. */
  sealer: Sealer | undefined;
}

export interface CustomToolCall {
  tool: CustomTool;
  arguments: JsonObject;
  idempotencyKey: string;
  /** For the whole call. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface CustomToolResult {
  result: JsonObject;
  /** Of the HTTP answer; null for an MCP tool. */
  status: number | null;
}

const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
const MAX_RESULT_DEPTH = 100;

/**
 * Calls a workspace's own tool once, after holding the arguments to its schema. An object is the result as it is,
 * anything else becomes `{result: ...}`. Redirects are not followed: what was registered is where the headers go.
 * Throws NodeError, or the signal's reason on abort.
 */
export async function callCustomTool(
  deps: CustomToolDeps,
  call: CustomToolCall,
): Promise<CustomToolResult> {
  const { tool } = call;
  holdToSchema(tool, call.arguments);
  const headers = openHeaders(deps.sealer, tool);
  const secrets = secretsOf(headers);
  const { value, status } =
    tool.kind === 'mcp'
      ? await callMcp(deps.egress, call, headers, secrets)
      : await callHttp(deps.egress, call, headers, secrets);
  if (isDeeperThan(value, MAX_RESULT_DEPTH)) {
    throw new NodeError(
      `Tool '${tool.name}' answered with more than ${MAX_RESULT_DEPTH} levels of lists and objects`,
      { retryable: false },
    );
  }
  const shown = withoutSecrets(value, secrets);
  const isObject = typeof shown === 'object' && shown !== null && !Array.isArray(shown);
  return { result: isObject ? shown : { result: shown }, status };
}

function holdToSchema(tool: CustomTool, args: JsonObject): void {
  if (tool.input_schema === null) return;
  let problem;
  try {
    problem = argumentsProblem(tool.input_schema, args);
  } catch (error) {
    if (!(error instanceof ArgumentSchemaError)) throw error;
    problem = `its input_schema ${error.message}`;
  }
  if (problem !== undefined) {
    throw new NodeError(`Tool '${tool.name}': ${problem}`, { retryable: false });
  }
}

type Headers = Readonly<Record<string, string>>;

function openHeaders(sealer: Sealer | undefined, tool: CustomTool): Headers {
  const scope = { workspaceId: tool.workspace_id, toolId: tool.id };
  try {
    return Object.fromEntries(
      Object.entries(tool.headers).map(([name, sealed]) => {
        if (sealer === undefined) throw new SealError('There is no key');
        return [name, sealer.open(sealed, headerPlace(scope, name))];
      }),
    );
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new NodeError(
      `Tool '${tool.name}': its headers cannot be opened with the present ENCRYPTION_KEY; save them anew`,
      { retryable: false, cause: error },
    );
  }
}

async function callHttp(
  egress: Egress,
  { tool, arguments: args, idempotencyKey, timeoutMs, signal }: CustomToolCall,
  headers: Headers,
  secrets: readonly string[],
): Promise<{ value: Json; status: number }> {
  const inQuery = tool.method === 'GET' || tool.method === 'HEAD';
  return callOutside(signal, async () => {
    const answer = await egress.request(
      inQuery ? withQuery(tool.endpoint_url, args) : tool.endpoint_url,
      {
        method: tool.method,
        headers: withOurs(headers, idempotencyKey, inQuery ? undefined : 'application/json'),
        ...(inQuery ? {} : { body: JSON.stringify(args) }),
        timeoutMs,
        maxResponseBytes: MAX_RESPONSE_BYTES,
        maxRedirects: 0,
        signal,
      },
    );
    if (isSuccess(answer.status)) return { value: valueOf(answer), status: answer.status };
    const said = hide(answer.body.toString('utf8'), secrets);
    throw statusFailure({ ...answer, body: Buffer.from(said) });
  });
}

/** The step's key is always ours; of the others, what the tool's owner set stands. */
function withOurs(
  headers: Headers,
  idempotencyKey: string,
  contentType: string | undefined,
): Record<string, string> {
  const named = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return {
    ...(contentType === undefined || named.has('content-type')
      ? {}
      : { 'Content-Type': contentType }),
    ...(named.has('accept') ? {} : { Accept: 'application/json' }),
    ...headers,
    'Idempotency-Key': idempotencyKey,
  };
}

/** Null leaves an argument out, a list repeats it; objects, in lists too, go as JSON. */
function withQuery(text: string, args: JsonObject): string {
  const url = new URL(text);
  for (const [name, value] of Object.entries(args)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      url.searchParams.append(name, typeof item === 'string' ? item : JSON.stringify(item));
    }
  }
  return url.href;
}

/** JSON where the answer says so or does not say what it is; else text. Nothing is an empty object. */
function valueOf(answer: EgressResponse): Json {
  if (answer.body.length === 0) return {};
  const type = answer.headers['content-type'] ?? 'application/json';
  return bodyOf({ ...answer, headers: { ...answer.headers, 'content-type': type } });
}

async function callMcp(
  egress: Egress,
  { tool, arguments: args, idempotencyKey, timeoutMs, signal }: CustomToolCall,
  headers: Headers,
  secrets: readonly string[],
): Promise<{ value: Json; status: null }> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const { structured, content } = await callMcpTool(egress, {
      serverUrl: tool.endpoint_url,
      tool: tool.mcp_tool ?? '',
      arguments: args,
      headers,
      idempotencyKey,
      // The deadline is for all exchanges together and comes first.
      timeoutMs: timeoutMs + 1_000,
      redact: (text) => hide(text, secrets),
      signal: AbortSignal.any([signal, deadline]),
    });
    return { value: structured ?? content, status: null };
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error;
    const { host } = new URL(tool.endpoint_url);
    throw new NodeError(`'${host}' did not answer in full within ${timeoutMs / 1000} s`, {
      cause: error,
    });
  }
}

/** Headers whose values are no secret, and likely to be found in any answer. */
const PLAIN_HEADERS = /^(?:accept|content)(?:-|$)|^user-agent$/i;
/** What is shorter is found in answers by chance, and hiding it would spoil them. */
const MIN_SECRET_LENGTH = 16;
const HIDDEN = '***';

/** What must not come back: the values of headers, and of `Bearer abc` also the part after the scheme. */
function secretsOf(headers: Headers): string[] {
  const values = Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([, value]) => [value.trim(), value.trim().replace(/^\S+\s+/, '')])
    .filter((value) => value.length >= MIN_SECRET_LENGTH);
  // As JSON writes them too, since a failure is told as the text it came as.
  const written = values.flatMap((value) => {
    const json = JSON.stringify(value).slice(1, -1);
    return [value, json, json.replaceAll('/', '\\/')];
  });
  return [...new Set(written)].sort((a, b) => b.length - a.length);
}

const hide = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);

/** Some tools answer with the request they got. What authorised it is not part of the result. */
function withoutSecrets(value: Json, secrets: readonly string[]): Json {
  if (secrets.length === 0) return value;
  if (typeof value === 'string') return hide(value, secrets);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [hide(key, secrets), withoutSecrets(item, secrets)]),
  );
}
