import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import type { ToolRefresh, ToolRefreshInput } from '#shared/contract/tools/tool-import.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import {
  type CustomTool,
  readCustomTool,
  toAnswer,
  updateCustomTool,
} from '#shared/db/tools/custom-tools.ts';
import { isChanged, type OfferedOperation } from '#shared/db/tools/described-operation.ts';
import { AppError, conflict } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';
import { schemaProblem } from '#shared/platform/threads/untrusted.ts';
import { checkToolSecrets } from '#shared/operations/secrets/secrets.ts';
import { type GivenDocument, readApiDocument } from './api-document.ts';
import type { ToolDeps } from './custom-tools.ts';
import { endpointOf } from './source-tools.ts';
import { invalid, keepHeadersAtOrigin } from './tool-headers.ts';

/** In ms. Below a handler's timeout. */
const READ_MS = 25_000;

/**
 * Reads the API document of a tool again, and compares the tool's operation. A difference is stored: from then on the
 * tool is not called, until someone accepts the change by its digest, or a later refresh no longer finds it. A change
 * of the description alone does not stop calls. Throws AppError `not_found`, `invalid`, `conflict` when the digest is
 * not that of the change, and `forbidden` if a graph in use calls the tool.
 */
export async function refreshTool(
  deps: ToolDeps,
  actor: Actor,
  toolId: string,
  input: NonNullable<ToolRefreshInput>,
): Promise<ToolRefresh> {
  const tool = await readCustomTool(deps.db, { workspaceId: actor.workspaceId, toolId });
  if (tool.request === null) {
    throw new AppError(
      'invalid',
      'Only a tool from an API document can be refreshed; import others again',
    );
  }
  if (input.accept !== undefined) return acceptChange(deps, actor, tool, input.accept);
  const found = await readOperation(deps, actor, tool, input.openapi);
  const after = await updateCustomTool(deps.db, actor, toolId, (before) => ({
    ...before,
    offered: isSame(before, found) ? null : found,
  }));
  const { offered } = after;
  return {
    state: offered === null ? 'unchanged' : offered.digest === null ? 'gone' : 'changed',
    digest: offered?.digest ?? null,
    changes: changesOf(after, offered),
    tool: toAnswer(after),
  };
}

/** What the document describes now. */
async function readOperation(
  { egress }: ToolDeps,
  actor: Actor,
  { request, document_url: url, document_server: server }: CustomTool,
  given: GivenDocument | undefined,
): Promise<OfferedOperation> {
  const document = url ?? given;
  if (document === undefined) {
    throw invalid('openapi is required, since the document was not imported by its URL');
  }
  if (url !== null && given !== undefined) {
    throw invalid(`openapi is not allowed: the document is read from ${url}`);
  }
  const operation = request?.operation ?? '';
  const options = { operations: [operation], ...(server === null ? {} : { server }) };
  const read = await readApiDocument(egress, actor, document, options, READ_MS);
  const found = read.operations.find((each) => each.operation === operation);
  if (found === undefined) return { digest: null, pin: null };
  const { method, input_schema, response_schema, description } = found;
  const described = { method, request: found.request, input_schema, response_schema, description };
  const problem = await schemaProblem(actor.workspaceId, input_schema);
  if (problem !== undefined) {
    throw new AppError('invalid', `The schema of the operation ${problem}`);
  }
  return {
    ...described,
    digest: jsonDigest({ ...described }),
    pin: found.digest,
  };
}

const COMPARED = ['method', 'request', 'input_schema', 'response_schema', 'description'] as const;

const isSame = (tool: CustomTool, found: OfferedOperation): boolean =>
  found.digest !== null && changesOf(tool, found).length === 0;

function changesOf(tool: CustomTool, found: OfferedOperation | null): ToolRefresh['changes'] {
  if (found === null || found.digest === null) return [];
  return COMPARED.filter(
    (field) => jsonDigest(jsonOf(tool[field])) !== jsonDigest(jsonOf(found[field])),
  ).map((field) => ({ field, before: jsonOf(tool[field]), after: jsonOf(found[field]) }));
}

const jsonOf = (value: object | string | null): Json => value as Json;

/** Throws AppError `conflict` unless this is the change that was found last. */
async function acceptChange(
  { db }: ToolDeps,
  actor: Actor,
  { id, auth, offered: found }: CustomTool,
  digest: string,
): Promise<ToolRefresh> {
  if (found !== null && found.digest !== null) {
    const { server, own_server: isOther } = found.request;
    if (!isOther) await checkToolSecrets(db, actor.workspaceId, { auth }, server);
  }
  const mayConfirm = holds(actor.role, actor.overrides, 'publish_workflows');
  const tool = await updateCustomTool(db, actor, id, (before) => {
    const { offered } = before;
    if (offered === null || offered.digest === null || offered.digest !== digest) {
      throw conflict(
        'There is no change with this digest: refresh the tool, and look at the change',
      );
    }
    const { digest: _digest, pin, ...operation } = offered;
    const endpoint_url = endpointOf(operation.request);
    keepHeadersAtOrigin(before, endpoint_url, undefined);
    const reads = operation.method === 'GET' || operation.method === 'HEAD';
    return {
      ...before,
      ...operation,
      ...{ endpoint_url, pinned_schema: pin, offered: null },
      auth: operation.request.own_server ? null : before.auth,
      read_only: isChanged(before) ? reads && mayConfirm : before.read_only,
    };
  });
  return { state: 'accepted', digest: null, changes: [], tool: toAnswer(tool) };
}
