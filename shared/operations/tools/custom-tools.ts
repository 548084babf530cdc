import { randomBytes, randomUUID } from 'node:crypto';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import {
  type CustomToolAnswer,
  type CustomToolInput,
  type CustomToolUpdate,
  targetProblem,
  type ToolTest,
} from '#shared/contract/tools/custom-tool.ts';
import {
  auditTool,
  createCustomTool,
  type CustomTool,
  readCustomTool,
  toAnswer,
  updateCustomTool,
} from '#shared/db/tools/custom-tools.ts';
import { recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { readPolicies } from '#shared/db/policies/policies.ts';
import type { Pool } from '#shared/db/pool.ts';
import { useSecrets } from '#shared/db/secrets/secrets.ts';
import type { RunAccount } from '#shared/db/connections/starters.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  callCustomTool,
  type CustomToolDeps,
  referencesOfTool,
} from '#shared/platform/calls/custom-tool.ts';
import {
  argumentsUntrusted,
  judgeUntrusted,
  schemaProblem,
} from '#shared/platform/threads/untrusted.ts';
import { sourceUntrusted } from '#shared/platform/threads/source.ts';
import { compilePolicies, type Judgment } from '#shared/policies/judge.ts';
import { calledAs, CODE } from '#shared/tools.ts';
import { checkToolSecrets } from '#shared/operations/secrets/secrets.ts';
import type { ServerDeps } from '#shared/operations/connections/mcp-servers.ts';
import { neededAfter } from '#shared/operations/connections/needed-sign-ins.ts';
import type { ConnectionTokens } from '#shared/operations/connections/tokens.ts';
import { CONNECTIONS, namesOf, SECRETS } from '#shared/values/secrets.ts';
import { invalid, keepHeadersAtOrigin, sealHeaders } from './tool-headers.ts';

export interface ToolDeps extends CustomToolDeps, ServerDeps {
  connectionTokens: ConnectionTokens;
}

/** A test uses the caller's own accounts. A key acts for its member only in runs, where its name is recorded. */
export const accountOf =
  ({ id, signedIn }: Actor) =>
  async (): Promise<RunAccount> =>
    id === null || signedIn?.by === 'api_key'
      ? { missing: 'this test was started with an API key' }
      : { memberId: id };

/** Registers a tool. Throws AppError `invalid`, `conflict`, and `forbidden` if a graph in use already calls it. */
export async function registerTool(
  { db, sealer }: ToolDeps,
  actor: Actor,
  input: CustomToolInput,
): Promise<CustomToolAnswer> {
  const isCode = input.kind === 'code';
  if (input.read_only && !isCode) requireCapability(actor, 'publish_workflows');
  await checkSource(actor, input);
  await checkSchema(actor, input.input_schema);
  await checkToolSecrets(db, actor.workspaceId, input, input.endpoint_url);
  const tool = await createCustomTool(
    db,
    actor,
    { ...input, read_only: isCode || input.read_only },
    (scope) => sealHeaders(sealer, scope, input.headers, {}),
  );
  return toAnswer(tool);
}

/**
 * Changes the given fields. Headers are replaced as a whole; a masked header keeps its value if the tool stays at its
 * origin. Throws AppError `not_found`, `invalid`, and `forbidden` if a graph in use calls it.
 */
export async function changeTool(
  { db, sealer }: ToolDeps,
  actor: Actor,
  toolId: string,
  body: CustomToolUpdate,
): Promise<CustomToolAnswer> {
  const scope = { workspaceId: actor.workspaceId, toolId };
  if (body.source !== undefined || body.language !== undefined) {
    await checkSource(actor, { ...(await readCustomTool(db, scope)), ...withoutUndefined(body) });
  }
  await checkSchema(actor, body.input_schema ?? null);
  const { headers, ...fields } = body;
  if (headers !== undefined || body.auth != null || body.endpoint_url !== undefined) {
    const { endpoint_url, auth } = await readCustomTool(db, scope);
    const wanted = { headers: headers ?? {}, auth: body.auth === undefined ? auth : body.auth };
    await checkToolSecrets(db, actor.workspaceId, wanted, body.endpoint_url ?? endpoint_url);
  }
  const tool = await updateCustomTool(db, actor, toolId, (before) => {
    if (body.name !== undefined && body.name !== before.name) {
      throw invalid('name cannot be changed: graphs call the tool by it');
    }
    const wanted = { ...before, ...withoutUndefined(fields) };
    requireOwn(before, wanted);
    const after = confirmed(actor, body, before, unpinned(before, wanted));
    const problem = targetProblem({ ...after, headers: headers ?? before.headers });
    if (problem !== undefined) throw invalid(`${problem.field} ${problem.message}`);
    keepHeadersAtOrigin(before, after.endpoint_url, headers);
    if (headers === undefined) return after;
    return { ...after, headers: sealHeaders(sealer, scope, headers, before.headers) };
  });
  return toAnswer(tool);
}

/** Throws AppError `invalid` for a change that only an import makes, and for `auth` of a tool without a request. */
function requireOwn(before: CustomTool, wanted: CustomTool): void {
  if (before.request === null) {
    if (wanted.auth === null) return;
    if (wanted.kind !== 'mcp') {
      throw invalid(
        'auth is only allowed for a tool from an API document or of an MCP server; use headers',
      );
    }
    if (wanted.auth.as.startsWith('query:')) {
      throw invalid('auth.as must be a header for an MCP server');
    }
    return;
  }
  const other = CALLED.find(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(wanted[field]),
  );
  if (other === undefined) return;
  throw invalid(`${other} comes from the API document, so it cannot be changed; import it again`);
}

/** Fields that identify a pinned tool: if one of these changes, it is a different tool. */
const PINNED = ['kind', 'endpoint_url', 'source', 'language', 'mcp_tool', 'input_schema'] as const;

function unpinned(before: CustomTool, after: CustomTool): CustomTool {
  const same = PINNED.every(
    (field) => JSON.stringify(before[field]) === JSON.stringify(after[field]),
  );
  return same ? after : { ...after, pinned_schema: null };
}

/** Fields that decide what is called. */
const CALLED = [...PINNED, 'method'] as const;

/**
 * Whether a tool only reads is confirmed by a person who can publish, for what it calls then: another tool is not
 * confirmed. Throws AppError `forbidden`.
 */
function confirmed(
  actor: Actor,
  { read_only: wanted }: CustomToolUpdate,
  before: CustomTool,
  after: CustomTool,
): CustomTool {
  const same = CALLED.every(
    (field) => JSON.stringify(before[field]) === JSON.stringify(after[field]),
  );
  // Code changes nothing.
  if (after.kind === 'code') return { ...after, read_only: true };
  if (!after.read_only || (before.read_only && same)) return after;
  if (wanted !== true) return { ...after, read_only: false };
  requireCapability(actor, 'publish_workflows');
  return after;
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

const withoutUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;

async function checkSchema({ workspaceId }: Actor, schema: JsonObject | null): Promise<void> {
  if (schema === null) return;
  const problem = await schemaProblem(workspaceId, schema);
  if (problem !== undefined) throw invalid(`input_schema ${problem}`);
}

/** Parses the source of code. */
async function checkSource(
  { workspaceId }: Actor,
  { source, language }: Pick<CustomTool, 'source' | 'language'>,
): Promise<void> {
  if (source === null) return;
  const problem = await sourceUntrusted(workspaceId, { source, language });
  if (problem === undefined) return;
  const { message, line, column } = problem;
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
  throw invalid(`source: ${message}${place}`);
}

/** The time limit of a test, below a handler's timeout. */
const MAX_TEST_MS = 25_000;

/**
 * Calls a tool once, as a step with these arguments would, and returns the outcome. The policies apply, except those
 * that limit which workflows can use the tool. For a caller without `run_workflows`, no sealed header is sent, and so
 * no secret: a test must not do what only a run may do. Throws AppError `not_found`, and `invalid` for invalid
 * arguments.
 */
export async function testTool(
  deps: ToolDeps,
  actor: Actor,
  toolId: string,
  args: JsonObject,
): Promise<ToolTest> {
  const stored = await readCustomTool(deps.db, { workspaceId: actor.workspaceId, toolId });
  const sealed = holds(actor.role, actor.overrides, 'run_workflows');
  const tool = sealed ? stored : { ...stored, headers: {}, auth: null };
  const omitted_headers = sealed ? [] : credentialNames(stored);
  const failed = (error: string, status: number | null, duration_ms: number): ToolTest => {
    const rest = { status, duration_ms, omitted_headers, needs_sign_in: null };
    return { ok: false, result: null, error, ...rest };
  };
  await checkArguments(tool, args);
  const judgment = await judgeTest(deps.db, tool, args);
  await deps.db.transaction(async (tx) => {
    await auditTool(tx, actor, tool, 'test', {});
    for (const verdict of judgment.verdicts) {
      await recordGovernanceEvent(tx, {
        ...verdict,
        workspaceId: actor.workspaceId,
        actorId: actor.id,
      });
    }
  });
  if (judgment.refusal !== undefined) return failed(judgment.refusal, null, 0);
  const { workspaceId } = actor;
  const references = referencesOfTool(deps.sealer, tool);
  const names = namesOf(references, SECRETS);
  const sealedValues = await useSecrets(deps.db, { workspaceId, names });
  const wanted = {
    workspaceId,
    names: namesOf(references, CONNECTIONS),
    account: accountOf(actor),
  };
  const values = { places: [], sealed: sealedValues, addresses: new Map<string, string>() };
  const began = performance.now();
  const durationMs = (): number => Math.round(performance.now() - began);
  try {
    const { result, status } = await deps.connectionTokens.use(wanted, values, (secrets) =>
      callCustomTool(deps, {
        tool,
        arguments: judgment.params,
        secrets,
        code: testCode(),
        idempotencyKey: `test:${randomUUID()}`,
        timeoutMs: Math.min(MAX_TEST_MS, tool.timeout_seconds * 1000),
        signal: AbortSignal.timeout(MAX_TEST_MS + 1_000),
      }),
    );
    const rest = { duration_ms: durationMs(), omitted_headers, needs_sign_in: null };
    return { ok: true, result, error: null, status, ...rest };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const test = failed(error.message, error.status ?? null, durationMs());
    return withNeeded(deps, actor, tool, { test, error, names: wanted.names });
  }
}

/** The failed test of an MCP tool, with the sign-in that its server requires. */
async function withNeeded(
  deps: ToolDeps,
  actor: Actor,
  { kind, endpoint_url: serverUrl }: CustomTool,
  { test, error, names }: { test: ToolTest; error: NodeError; names: readonly string[] },
): Promise<ToolTest> {
  // Without the stored headers, an answer of 401 means nothing.
  if (kind !== 'mcp' || test.omitted_headers.length > 0) return test;
  const refusal = await neededAfter(deps, actor, serverUrl, error, names);
  if (refusal === undefined) return test;
  return { ...test, error: refusal.reason, needs_sign_in: refusal.needed ?? null };
}

/** The headers that are not sent, and a parameter of the query as `query:key`. */
function credentialNames({ headers, auth }: CustomTool): string[] {
  const as = auth === null ? [] : [auth.as.startsWith('query:') ? auth.as : authHeader(auth.as)];
  return [...Object.keys(headers), ...as].sort();
}

const authHeader = (as: string): string =>
  as.startsWith('header:') ? as.slice('header:'.length) : 'Authorization';

/** A test begins now, and keeps no log. */
const testCode = () => ({
  begin: () => Promise.resolve({ clock: Date.now(), seed: randomBytes(32).toString('hex') }),
  keepLog: () => Promise.resolve(),
});

async function checkArguments(tool: CustomTool, args: JsonObject): Promise<void> {
  if (tool.input_schema === null) return;
  const outcome = await argumentsUntrusted(tool.workspace_id, tool.input_schema, args);
  if (outcome.schemaProblem !== undefined) {
    throw invalid(`the tool's input_schema ${outcome.schemaProblem}`);
  }
  if (outcome.problem !== undefined) throw invalid(outcome.problem);
}

/** Applies the policies as for a step outside of a workflow. */
async function judgeTest(db: Pool, tool: CustomTool, params: JsonObject): Promise<Judgment> {
  const { policies } = await readPolicies(db, tool.workspace_id);
  const anywhere = policies.tools.map(({ allowed_workflow_ids: _ids, ...rules }) => rules);
  const node = { id: 'test', kind: 'tool', tool_name: calledAs(tool.name), params: {} } as const;
  const here = { ...policies, tools: anywhere };
  return judgeUntrusted(
    tool.workspace_id,
    { compiled: compilePolicies(here), json: JSON.stringify(here) },
    { workflowId: '', node, params, state: {}, aliases: tool.kind === 'code' ? [CODE] : [] },
  );
}
