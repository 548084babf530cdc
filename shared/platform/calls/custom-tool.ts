import { type CustomTool, headerContext } from '#shared/db/tools/custom-tools.ts';
import { isChanged } from '#shared/db/tools/described-operation.ts';
import { referenceOf } from '#shared/contract/tools/tool-auth.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  referenceKey,
  referencesIn,
  type ValueReference,
  valueKey,
} from '#shared/values/secrets.ts';
import type { Egress, EgressResponse, RequestCheck } from '#shared/platform/egress/egress.ts';
import { callMcpTool } from './mcp.ts';
import { type Credentials, credentialsOf, toolRequest } from './tool-request.ts';
import { bodyOf, callOutside, isSuccess, statusFailure } from './outside.ts';
import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import {
  checkedEgress,
  openSecrets,
  type StepSecrets,
  withoutSecrets,
} from '#shared/platform/secrets/open-secrets.ts';
import {
  createSecretCutter,
  type SecretCutter,
  secretsOfHeaders,
} from '#shared/platform/secrets/secret-cutter.ts';
import { type CodeSurroundings, computeTool } from '#shared/platform/code/tool.ts';
import { argumentsUntrusted } from '#shared/platform/threads/untrusted.ts';

export interface CustomToolDeps {
  egress: Egress;
  /** Undefined without an encryption key: then only tools that were stored earlier have headers. */
  sealer: Sealer | undefined;
}

export interface CustomToolCall {
  tool: CustomTool;
  arguments: JsonObject;
  /** The values of the tool's headers, see `referencesOfTool`, and the addresses of callbacks in its arguments. */
  secrets?: StepSecrets | undefined;
  /** Whether the tool of an MCP server is compared with the server's list now, instead of with a cached one. */
  fresh?: boolean | undefined;
  idempotencyKey: string;
  /** For code: what it begins with, and where its log is kept. */
  code: Pick<CodeSurroundings, 'begin' | 'keepLog'>;
  /** For the whole call. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface CustomToolResult {
  result: JsonObject;
  /** The status of the HTTP response; null for an MCP tool and for code. */
  status: number | null;
}

const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

/**
 * Calls a custom tool once, after validating the arguments on another thread. An object is returned unchanged, anything
 * else becomes `{result: ...}`. Redirects are not followed, so headers are only sent to the registered address. Throws
 * NodeError, WorkBusyError, or the signal's reason on abort.
 */
export async function callCustomTool(
  deps: CustomToolDeps,
  call: CustomToolCall,
): Promise<CustomToolResult> {
  const { tool } = call;
  if (tool.kind === 'code') {
    await holdToSchema(tool, call.arguments);
    const surroundings = { ...call.code, workspaceId: tool.workspace_id, signal: call.signal };
    const asked = { argument: call.arguments, seconds: call.timeoutMs / 1_000 };
    return { result: await computeTool(surroundings, tool, asked), status: null };
  }
  if (isChanged(tool)) throw changedTool(tool);
  const stored = openHeaders(deps.sealer, tool);
  const { places, ...values } = call.secrets ?? NO_VALUES;
  const keys = [...references(stored, tool).map(referenceKey), ...places.map(valueKey)];
  const opened = openSecrets(deps.sealer, values, keys);
  const own = credentialsOf(tool, opened.fillHeaders);
  const headers = { ...opened.fillHeaders(stored), ...own.headers };
  // Some tools return the request they received, but its credentials must not be in the result.
  const cutter = createSecretCutter([...secretsOfHeaders(headers), ...opened.values]);
  const { value, status } = await withoutSecrets<{ value: Json; status: number | null }>(
    cutter,
    async () => {
      const sent = { ...call, arguments: opened.fill(call.arguments, places) };
      await holdToSchema(tool, sent.arguments);
      return tool.kind === 'mcp'
        ? callMcp(checkedEgress(deps.egress, opened.check), sent, headers, cutter)
        : callHttp(deps.egress, sent, { ...own, headers }, { cutter, check: opened.check });
    },
  );
  const shown = cutter.json(value);
  const isObject = typeof shown === 'object' && shown !== null && !Array.isArray(shown);
  return { result: isObject ? shown : { result: shown }, status };
}

const changedTool = ({ name, offered }: CustomTool): NodeError =>
  new NodeError(
    offered?.digest === null
      ? `Tool '${name}': its operation is no longer in the API document`
      : `Tool '${name}' has changed in its API document: review the change and accept it, or import it again`,
    { retryable: false },
  );

const NO_VALUES: StepSecrets = { places: [], sealed: new Map(), addresses: new Map() };

async function holdToSchema(tool: CustomTool, args: JsonObject): Promise<void> {
  if (tool.input_schema === null) return;
  const outcome = await argumentsUntrusted(tool.workspace_id, tool.input_schema, args);
  const problem =
    outcome.schemaProblem === undefined
      ? outcome.problem
      : `its input_schema ${outcome.schemaProblem}`;
  if (problem !== undefined) {
    throw new NodeError(`Tool '${tool.name}': ${problem}`, { retryable: false });
  }
}

/**
 * The references to secrets and connections in a tool's headers and credentials. Empty when these cannot be opened:
 * then the call fails.
 */
export function referencesOfTool(sealer: Sealer | undefined, tool: CustomTool): ValueReference[] {
  try {
    return references(openHeaders(sealer, tool), tool);
  } catch (error) {
    if (error instanceof NodeError) return [];
    throw error;
  }
}

const references = (headers: Headers, { auth }: CustomTool): ValueReference[] => [
  ...Object.values(headers).flatMap(referencesIn),
  ...(auth === null ? [] : [referenceOf(auth)]),
];

type Headers = Readonly<Record<string, string>>;

/** The values of a tool's headers. Throws NodeError when they cannot be opened. */
export function openHeaders(sealer: Sealer | undefined, tool: CustomTool): Headers {
  const scope = { workspaceId: tool.workspace_id, toolId: tool.id };
  try {
    return Object.fromEntries(
      Object.entries(tool.headers).map(([name, sealed]) => {
        if (sealer === undefined) throw new SealError('There is no key');
        return [name, sealer.open(sealed, headerContext(scope, name))];
      }),
    );
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new NodeError(
      `Tool '${tool.name}': its headers cannot be opened with the current ENCRYPTION_KEY; save them again`,
      { retryable: false, cause: error },
    );
  }
}

async function callHttp(
  egress: Egress,
  { tool, arguments: args, idempotencyKey, timeoutMs, signal }: CustomToolCall,
  own: Credentials,
  { cutter, check }: { cutter: SecretCutter; check: RequestCheck },
): Promise<{ value: Json; status: number }> {
  const { url, headers, body } = toolRequest(tool, args, own);
  return callOutside(signal, async () => {
    const answer = await egress.request(url, {
      method: tool.method,
      headers: withServiceHeaders(headers, idempotencyKey),
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxRedirects: 0,
      check,
      signal,
    });
    if (isSuccess(answer.status)) return { value: valueOf(answer), status: answer.status };
    throw statusFailure(answer, cutter.text);
  });
}

/** The service always sets the idempotency key of the step. Other headers keep the tool owner's values. */
function withServiceHeaders(headers: Headers, idempotencyKey: string): Record<string, string> {
  const named = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return {
    ...(named.has('accept') ? {} : { Accept: 'application/json' }),
    ...headers,
    'Idempotency-Key': idempotencyKey,
  };
}

/** JSON if the response has that content type or none; otherwise text. An empty response is an empty object. */
function valueOf(answer: EgressResponse): Json {
  if (answer.body.length === 0) return {};
  const type = answer.headers['content-type'] ?? 'application/json';
  return bodyOf({ ...answer, headers: { ...answer.headers, 'content-type': type } });
}

async function callMcp(
  egress: Egress,
  { tool, arguments: args, fresh, idempotencyKey, timeoutMs, signal }: CustomToolCall,
  headers: Headers,
  cutter: SecretCutter,
): Promise<{ value: Json; status: null }> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const { structured, content } = await callMcpTool(egress, {
      serverUrl: tool.endpoint_url,
      tool: tool.mcp_tool ?? '',
      arguments: args,
      headers,
      idempotencyKey,
      pinned:
        tool.pinned_schema === null
          ? undefined
          : { name: tool.name, digest: tool.pinned_schema, fresh },
      // The deadline covers all exchanges together, and is checked first.
      timeoutMs: timeoutMs + 1_000,
      redact: cutter.text,
      signal: AbortSignal.any([signal, deadline]),
    });
    return { value: structured ?? content, status: null };
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error;
    const { host } = new URL(tool.endpoint_url);
    throw new NodeError(`'${host}' did not respond in full within ${timeoutMs / 1000} s`, {
      cause: error,
    });
  }
}
