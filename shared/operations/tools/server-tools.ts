import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { referenceOf } from '#shared/contract/tools/tool-auth.ts';
import type { ToolImportInput } from '#shared/contract/tools/tool-import.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { useSecrets } from '#shared/db/secrets/secrets.ts';
import { AppError, messageOf } from '#shared/errors.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { nameHere } from '#shared/openapi/names.ts';
import { listMcpTools, type ServerTool } from '#shared/platform/calls/mcp-tools.ts';
import {
  checkedEgress,
  openSecrets,
  withoutSecrets,
} from '#shared/platform/secrets/open-secrets.ts';
import { createSecretCutter, secretsOfHeaders } from '#shared/platform/secrets/secret-cutter.ts';
import {
  CONNECTIONS,
  namesOf,
  referenceKey,
  referencesIn,
  SECRETS,
  type ValueReference,
} from '#shared/values/secrets.ts';
import { beginningOf } from '#shared/values/excerpt.ts';
import { neededAfter, type SignInRefusal } from '#shared/operations/connections/needed-sign-ins.ts';
import { credentialsOf } from '#shared/platform/calls/tool-request.ts';
import { checkToolSecrets } from '#shared/operations/secrets/secrets.ts';
import { accountOf, type ToolDeps } from './custom-tools.ts';
import { invalid } from './tool-headers.ts';
import type { Described, Found, SourceTool } from './source-tools.ts';

const MAX_LABEL = 200;
const MAX_DESCRIPTION = 5_000;

/**
 * The tools of an MCP server, as they will be registered. Throws AppError `invalid` when they cannot be listed, and
 * `forbidden` for a secret in a header without `run_workflows`.
 */
export async function listServerTools(
  deps: ToolDeps,
  actor: Actor,
  input: ToolImportInput,
  timeoutMs: number,
): Promise<Found> {
  const server = { ...input, server_url: input.server_url ?? '' };
  // Before any of them is sent.
  if (referencesOf(server).length > 0) requireCapability(actor, 'run_workflows');
  requireOneHeader(server);
  await checkToolSecrets(deps.db, actor.workspaceId, server, server.server_url);
  const listed = await listTools(deps, actor, server, timeoutMs);
  const missing = [...new Set(input.names)].filter((name) =>
    listed.every((tool) => tool.name !== name),
  );
  return {
    tools: listed.map((tool) => sourceTool(server, tool)),
    skipped: missing.map((name) => ({ name, reason: 'the server has no tool with this name' })),
  };
}

type ServerInput = ToolImportInput & { server_url: string };

const referencesOf = ({ headers, auth }: ServerInput): ValueReference[] => [
  ...Object.values(headers).flatMap(referencesIn),
  ...(auth === undefined ? [] : [referenceOf(auth)]),
];

/** Throws AppError `invalid` if a header and `auth` have the same place. */
function requireOneHeader({ headers, auth }: ServerInput): void {
  if (auth === undefined) return;
  const [own = ''] = Object.keys(credentialsOf({ auth }, (texts) => texts).headers);
  const twice = Object.keys(headers).find((name) => name.toLowerCase() === own.toLowerCase());
  if (twice !== undefined) throw invalid(`headers.${twice}: auth sets this header; leave one out`);
}

function sourceTool(input: ServerInput, tool: ServerTool): SourceTool {
  const { name: mcp_tool, description, schema } = tool;
  const name = nameHere(mcp_tool, input.prefix);
  return {
    source: { mcp_tool, operation: null, endpoint: null },
    ...{ name, description, input_schema: schema },
    describe: () =>
      schema === null
        ? 'the server gives no inputSchema for it that is an object'
        : describe(input, { ...tool, schema }, name),
  };
}

async function listTools(
  deps: ToolDeps,
  actor: Actor,
  input: ServerInput,
  timeoutMs: number,
): Promise<ServerTool[]> {
  const { db, sealer, egress, connectionTokens } = deps;
  const { server_url: serverUrl, headers: given, auth = null, names } = input;
  const { workspaceId } = actor;
  const signal = AbortSignal.timeout(timeoutMs);
  const references = referencesOf(input);
  const sealed = await useSecrets(db, { workspaceId, names: namesOf(references, SECRETS) });
  try {
    return await connectionTokens.use(
      { workspaceId, names: namesOf(references, CONNECTIONS), account: accountOf(actor) },
      { places: [], sealed, addresses: new Map() },
      async (values) => {
        const opened = openSecrets(sealer, values, references.map(referenceKey));
        const own = credentialsOf({ auth }, opened.fillHeaders);
        const headers = { ...opened.fillHeaders(given), ...own.headers };
        const cutter = createSecretCutter([...secretsOfHeaders(headers), ...opened.values]);
        // The signal covers all exchanges together, and is checked first.
        const server = {
          serverUrl,
          headers,
          timeoutMs: timeoutMs + 1_000,
          redact: cutter.text,
          signal,
        };
        const tools = await withoutSecrets(cutter, () =>
          listMcpTools(checkedEgress(egress, opened.check), server, names),
        );
        // A redacted schema differs from the server's, so a tool pinned to it could never be called.
        return references.length === 0
          ? tools
          : (cutter.json(tools as unknown as Json) as unknown as ServerTool[]);
      },
    );
  } catch (error) {
    if (signal.aborted) {
      throw unlisted({ reason: `It did not respond in full within ${timeoutMs / 1000} s` });
    }
    if (!(error instanceof NodeError)) throw error;
    const used = namesOf(references, CONNECTIONS);
    const refusal = await neededAfter(deps, actor, serverUrl, error, used);
    throw unlisted(refusal ?? { reason: messageOf(error) });
  }
}

const unlisted = ({ reason, needed }: SignInRefusal): AppError =>
  new AppError('invalid', `The tools of this server cannot be listed. ${reason}`, {
    needsSignIn: needed,
  });

/** The tool as it will be registered, or why it cannot be. */
function describe(
  { server_url, auth }: ServerInput,
  { name: serverName, title, description, schema }: ServerTool & { schema: JsonObject },
  name: string,
): Described | string {
  const parsed = customToolInput.safeParse({
    name,
    label: textOf(title, MAX_LABEL),
    description: textOf(description, MAX_DESCRIPTION),
    kind: 'mcp',
    endpoint_url: server_url,
    mcp_tool: serverName,
    input_schema: schema,
  });
  if (parsed.success) {
    return { ...parsed.data, auth: auth ?? null, pinned_schema: jsonDigest(schema) };
  }
  return parsed.error.issues
    .map(({ path, message }) => `its ${path.join('.')}: ${message}`)
    .join('; ');
}

/** The beginning of the text, as it can be stored. */
const textOf = (text: string, most: number): string =>
  beginningOf(toStorable(text) as string, most);
