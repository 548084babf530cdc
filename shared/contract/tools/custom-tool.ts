import { z } from 'zod';
import { MAX_TOOL_TIMEOUT_SECONDS } from '#shared/tools.ts';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import {
  codeLanguages,
  codeSource,
  MAX_CODE_SECONDS,
} from '#shared/contract/workflows/code-node.ts';
import { requestMapping } from './request-mapping.ts';
import { toolAuth } from './tool-auth.ts';
import { neededSignIn } from '#shared/contract/connections/needed-sign-in.ts';
import { etag } from '#shared/contract/if-match.ts';

export const customToolKinds = ['http', 'mcp', 'code'] as const;
export const customToolMethods = ['POST', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const;

/** Shown instead of a header's value, and accepted as "unchanged". */
export const HEADER_MASK = '***';

const MAX_HEADERS = 50;
const DEFAULT_TIMEOUT_SECONDS = 60;

const toolName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    "must start with a letter and contain only a-z, 0-9, '_' and '-', at most 64",
  )
  .meta({ description: 'Workflows call the tool as `custom:<name>`' });

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' })
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || (url.username === '' && url.password === '');
  }, 'must not contain a user name or password; use headers')
  .refine(
    (text) => !/[{}]/.test(URL.parse(text)?.host ?? ''),
    'must name its host in full, without a template',
  );

/** Empty for code, which calls nothing. */
export const endpointUrl = z.union([httpUrl, z.literal('')]).meta({
  description: 'Called unchanged: no part of it comes from a workflow. Empty for kind `code`',
});

export const toolHeaders = z
  .record(z.string().min(1).max(200), z.string().max(8_000))
  .refine((given) => Object.keys(given).length <= MAX_HEADERS, `has more than ${MAX_HEADERS}`)
  .refine((given) => {
    const names = Object.keys(given).map((name) => name.toLowerCase());
    return new Set(names).size === names.length;
  }, 'names a header twice')
  .meta({
    description: `Sent with each call. Values are stored sealed and shown as \`${HEADER_MASK}\``,
  });

const fields = {
  label: z.string().max(200),
  description: z.string().max(5_000),
  kind: z.enum(customToolKinds),
  endpoint_url: endpointUrl,
  method: z
    .enum(customToolMethods)
    .meta({ description: 'For kind `http`. GET and HEAD send the arguments in the query' }),
  headers: toolHeaders,
  mcp_tool: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .meta({ description: 'The tool of the MCP server, for kind `mcp`' }),
  source: codeSource.nullable().meta({
    description:
      'For kind `code`: a module whose `export default` is a function of the arguments. It runs in a sandbox, for at most 10 s of ' +
      'processor time',
  }),
  language: z.enum(codeLanguages).meta({ description: 'Of the `source`' }),
  input_schema: jsonObject.nullable().meta({
    description:
      'JSON Schema, draft 2020-12 or 7, that validates the arguments before each call. Patterns are RE2; `format` is ' +
      'not checked; external references are not loaded.',
  }),
  timeout_seconds: z
    .int()
    .min(1)
    .max(MAX_TOOL_TIMEOUT_SECONDS)
    .meta({
      description: `For one call. For kind \`code\`, it is processor time, and at most ${MAX_CODE_SECONDS}`,
    }),
  retry_count: z
    .int()
    .min(0)
    .max(10)
    .meta({ description: "Retries after the first try; a node's own `retry` replaces it" }),
  auth: toolAuth.nullable().meta({
    description:
      'What calls authenticate with; only for a tool that was imported from an API document, or of an MCP server',
  }),
  read_only: z.boolean().meta({
    description:
      'Whether a call changes nothing, so that the recheck of a gate can repeat it. To set it needs the capability publish_workflows; a change of what is called takes it back',
  }),
};

/** What a tool calls, or computes. */
interface Target {
  kind: string;
  endpoint_url: string;
  mcp_tool: string | null;
  source: string | null;
  headers: Readonly<Record<string, string>>;
  timeout_seconds?: number | undefined;
}

/** The field that is wrong in a tool's target, and the error; undefined when there is none. */
export function targetProblem({
  kind,
  endpoint_url: url,
  mcp_tool: tool,
  source,
  headers: sent,
  timeout_seconds: seconds = 1,
}: Target):
  | {
      field: 'endpoint_url' | 'mcp_tool' | 'source' | 'headers' | 'timeout_seconds';
      message: string;
    }
  | undefined {
  if (kind === 'code' && Object.keys(sent).length > 0) {
    return { field: 'headers', message: "is only allowed with kind 'http' or 'mcp'" };
  }
  if (kind === 'code' && seconds > MAX_CODE_SECONDS) {
    const message = `must be at most ${MAX_CODE_SECONDS} with kind 'code'`;
    return { field: 'timeout_seconds', message };
  }
  const required: [
    field: 'endpoint_url' | 'mcp_tool' | 'source',
    given: boolean,
    kinds: string[],
  ][] = [
    ['mcp_tool', tool !== null, ['mcp']],
    ['endpoint_url', url !== '', ['http', 'mcp']],
    ['source', source !== null, ['code']],
  ];
  for (const [field, given, kinds] of required) {
    if (given === kinds.includes(kind)) continue;
    if (!given) return { field, message: `is required with kind '${kind}'` };
    return {
      field,
      message: `is only allowed with kind ${kinds.map((each) => `'${each}'`).join(' or ')}`,
    };
  }
  return undefined;
}

export const customToolInput = z
  .strictObject({
    name: toolName,
    label: fields.label.default(''),
    description: fields.description.default(''),
    kind: fields.kind.default('http'),
    endpoint_url: fields.endpoint_url.default(''),
    source: fields.source.default(null),
    language: fields.language.default('javascript'),
    method: fields.method.default('POST'),
    headers: fields.headers.default({}),
    mcp_tool: fields.mcp_tool.default(null),
    input_schema: fields.input_schema.default(null),
    timeout_seconds: fields.timeout_seconds.optional().meta({
      description: `For one call. By default ${DEFAULT_TIMEOUT_SECONDS}. For kind \`code\`, it is processor time: by default and at most ${MAX_CODE_SECONDS}`,
    }),
    retry_count: fields.retry_count.default(1),
    read_only: fields.read_only.default(false),
  })
  .superRefine((tool, context) => {
    const problem = targetProblem(tool);
    if (problem === undefined) return;
    context.addIssue({ code: 'custom', path: [problem.field], message: problem.message });
  })
  .meta({
    examples: [
      {
        name: 'crm-lookup',
        endpoint_url: 'https://tools.example.com/crm/lookup',
        input_schema: {
          type: 'object',
          properties: { email: { type: 'string' } },
          required: ['email'],
        },
      },
    ],
  })
  .transform((tool) => ({
    ...tool,
    timeout_seconds:
      tool.timeout_seconds ?? (tool.kind === 'code' ? MAX_CODE_SECONDS : DEFAULT_TIMEOUT_SECONDS),
  }));
export type CustomToolInput = z.infer<typeof customToolInput>;

/**
 * Absent fields do not change. The name cannot change, because graphs call the tool by it, but requests can include its
 * current value.
 */
export const customToolUpdate = z
  .strictObject({ name: toolName, ...fields })
  .partial()
  .meta({ examples: [{ timeout_seconds: 20, retry_count: 3 }] });
export type CustomToolUpdate = z.infer<typeof customToolUpdate>;

const schemaDigest = z.string().nullable().meta({
  description:
    '`sha256:` and the SHA-256 of the canonical JSON (RFC 8785) of the `input_schema`; null without one',
});

export const customToolSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    label: z.string(),
    description: z.string(),
    kind: z.enum(customToolKinds),
    endpoint_url: z.string(),
    source: z.string().nullable(),
    language: z.enum(codeLanguages),
    method: z.enum(customToolMethods),
    headers: z
      .record(z.string(), z.string())
      .meta({ description: `Every value is \`${HEADER_MASK}\`` }),
    mcp_tool: z.string().nullable(),
    input_schema: jsonObject.nullable(),
    schema_digest: schemaDigest,
    pinned: z.boolean().meta({
      description:
        'Whether it was imported, and is not called while its server gives another schema for it',
    }),
    timeout_seconds: z.int(),
    retry_count: z.int(),
    read_only: z.boolean(),
    request: requestMapping.nullable().meta({
      description:
        'For a tool that was imported from an API document: how its arguments become a request',
    }),
    auth: toolAuth.nullable(),
    document_url: z.string().nullable().meta({
      description: 'The URL of the API document; null for a document that was sent',
    }),
    document_server: z.string().nullable().meta({
      description: "The server that the import named instead of the document's",
    }),
    response_schema: jsonObject.nullable().meta({
      description: 'What the API document says of the result; responses are not checked against it',
    }),
    changed: z.boolean().meta({
      description:
        'Whether a refresh has found another operation in the API document, and the change is not accepted yet: the tool is not called',
    }),
    created_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    etag,
  })
  .meta({ id: 'CustomTool' });
export type CustomToolAnswer = z.infer<typeof customToolSchema>;

export const toolTestInput = z
  .strictObject({ arguments: jsonObject.default({}) })
  .nullish()
  .meta({ examples: [{ arguments: { email: 'jane@example.com' } }] });

export const toolTestSchema = z
  .object({
    ok: z.boolean(),
    result: jsonObject.nullable().meta({ description: 'The output of a step; null on failure' }),
    error: z.string().nullable().meta({ description: 'The error of a step' }),
    status: z.int().nullable().meta({ description: 'Of the HTTP response, if any' }),
    duration_ms: z.int(),
    omitted_headers: z.array(z.string()).meta({
      description:
        'Names of stored headers that were not sent, because the caller does not have the capability run_workflows',
    }),
    needs_sign_in: neededSignIn.nullable().meta({
      description: 'What is needed, if the MCP server of the tool requires sign-in',
    }),
  })
  .meta({ id: 'ToolTest' });
export type ToolTest = z.infer<typeof toolTestSchema>;
