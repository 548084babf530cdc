import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  checkUserHeaders,
  type Egress,
  type RequestCheck,
} from '#shared/platform/egress/egress.ts';
import { bodyOf, callOutside, isSuccess, statusFailure } from '#shared/platform/calls/outside.ts';
import { contentTypeIn, fieldsOf, formOf, isForm } from '#shared/values/form.ts';
import { withoutSecrets } from '#shared/platform/secrets/open-secrets.ts';
import {
  type NodeCall,
  NodeError,
  type NodeResult,
  type NodeRunner,
} from '#activities/nodes/node.ts';
import { openForStep } from '#activities/step-secrets.ts';
import { parseParams } from './params.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
/** Templates turn numbers into text and back, so a header can have any plain value. */
export const headersSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()]).transform(String),
);

export const httpRequestParams = z.strictObject({
  url: z.string().min(1),
  method: z
    .string()
    .transform((method) => method.toUpperCase())
    .pipe(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']))
    .default('GET'),
  headers: headersSchema.nullish(),
  query: z.record(z.string(), z.union([scalar, z.array(scalar)])).nullish(),
  body: z.custom<Json>().optional(),
});

const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * `{url, method, headers, query, body}` to `{status, headers, body}`; a response other than 2xx fails the node. The
 * values of secrets are inserted here, and redacted from everything that comes back.
 */
export function createHttpRequest(
  egress: Egress,
  sealer: Sealer | undefined,
): NodeRunner<ToolNode> {
  return async (call) => {
    const opened = openForStep(sealer, call);
    if (opened === undefined) return send(egress, call, call.params);
    const { params, cutter, check } = opened;
    return withoutSecrets(cutter, async () => {
      const { output } = await send(egress, call, params, { check, redact: cutter.text });
      return { output: cutter.json(output), costMicros: 0 };
    });
  };
}

interface Precautions {
  check?: RequestCheck;
  redact?: (text: string) => string;
}

async function send(
  egress: Egress,
  call: NodeCall<ToolNode>,
  given: JsonObject,
  { check, redact }: Precautions = {},
): Promise<NodeResult> {
  const params = parseParams('http_request', httpRequestParams, given);
  return callOutside(call.signal, async () => {
    const headers = checkUserHeaders(params.headers ?? {});
    const body = encodeBody(params.body, headers);
    setDefault(headers, 'idempotency-key', 'Idempotency-Key', call.idempotencyKey);
    const answer = await egress.request(withQuery(params.url, params.query ?? {}), {
      method: params.method,
      headers,
      body,
      timeoutMs:
        call.node.timeout_seconds === undefined
          ? DEFAULT_TIMEOUT_MS
          : call.node.timeout_seconds * 1000,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxRedirects: MAX_REDIRECTS,
      signal: call.signal,
      check: async (message, from) => {
        await check?.(message, from);
        if (from !== undefined) await requireRedirect(call, message.url, from);
      },
    });
    if (!isSuccess(answer.status)) throw statusFailure(answer, redact);
    return {
      output: { status: answer.status, headers: answer.headers, body: bodyOf(answer) },
      costMicros: 0,
    };
  });
}

async function requireRedirect(call: NodeCall<ToolNode>, to: URL, from: URL): Promise<void> {
  const refusal = await call.redirectRefusal?.(to);
  if (refusal === undefined) return;
  const text = `'${from.host}' redirects to an address that a policy blocks: ${refusal}`;
  throw new NodeError(text, { retryable: false, kind: 'policy' });
}

/** Text is sent unchanged; an object is sent as a form if the headers say so; everything else is sent as JSON. */
function encodeBody(body: Json | undefined, headers: Record<string, string>): string | undefined {
  if (body === undefined || body === null || typeof body === 'string') return body ?? undefined;
  if (isObject(body) && isForm(contentTypeIn(headers))) return formOf(body);
  setDefault(headers, 'content-type', 'Content-Type', 'application/json');
  return JSON.stringify(body);
}

function setDefault(
  headers: Record<string, string>,
  lowerName: string,
  name: string,
  value: string,
): void {
  if (!Object.keys(headers).some((key) => key.toLowerCase() === lowerName)) headers[name] = value;
}

/** Null omits a query parameter, and a list repeats it. The egress guard rejects an invalid URL. */
function withQuery(text: string, query: JsonObject): string {
  const url = URL.parse(text);
  if (url === null) return text;
  for (const [name, value] of fieldsOf(query)) url.searchParams.append(name, value);
  return url.href;
}
