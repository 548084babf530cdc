import { builtinDefinitions } from '#shared/agents/builtin-tools.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { findCalled, targetOfWorkflow } from '#shared/db/children/called-workflows.ts';
import type { Db } from '#shared/db/pool.ts';
import { type CustomTool, findCustomTool, targetOf } from '#shared/db/tools/custom-tools.ts';
import { AppError } from '#shared/errors.ts';
import { templateReads } from '#shared/graph/expression/template.ts';
import type { StepToApprove } from '#shared/graph/gates/gate-opening.ts';
import type { ApprovedNode } from '#shared/graph/node-approval.ts';
import { nodeTexts } from '#shared/graph/node-texts.ts';
import type { JsonObject } from '#shared/json.ts';
import { customToolName } from '#shared/tools.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { CONNECTIONS, SECRETS } from '#shared/values/secrets.ts';

/** What an approval of a step is bound to, besides the arguments. */
export type StepTarget = Pick<StepToApprove, 'schema_digest' | 'tool_digest'>;

/** Arguments that say where a call goes, and with what rights: no approver can change them. */
const addressing: Readonly<Record<string, readonly string[]>> = {
  http_request: ['method', 'headers'],
  mcp: ['server_url', 'tool', 'headers'],
  send_chat_message: ['webhook_url'],
};

const ANY: JsonObject = { type: 'object' };

/** What a step of a tool reaches; undefined `custom`: it is a built-in tool, or is not registered any more. */
export function targetOfTool(name: string, custom: CustomTool | undefined): StepTarget {
  return {
    schema_digest: jsonDigest(schemaOf(name, custom)),
    tool_digest: custom === undefined ? null : jsonDigest(targetOf(custom)),
  };
}

function schemaOf(name: string, custom: CustomTool | undefined): JsonObject {
  if (custom !== undefined) return custom.input_schema ?? ANY;
  const builtin = Object.hasOwn(builtinDefinitions, name) ? name : undefined;
  return builtin === undefined
    ? ANY
    : builtinDefinitions[builtin as keyof typeof builtinDefinitions].schema;
}

/** What a step that starts a run reaches. Null when there is no such workflow: then the step fails. */
export const targetOfChild = (called: { id: string; version: number } | undefined): StepTarget => ({
  schema_digest: jsonDigest(ANY),
  tool_digest: called === undefined ? null : jsonDigest(targetOfWorkflow(called)),
});

/** The tool of a step that needs approval: the schema of its arguments, and those that an approver cannot change. */
export async function findStepTool(
  db: Db,
  workspaceId: string,
  node: ApprovedNode,
): Promise<StepTarget & { schema: JsonObject; fixed: string[] }> {
  if (node.kind === 'workflow') {
    const called = await findChosen(db, { workspaceId, ...node });
    return { ...targetOfChild(called), schema: ANY, fixed: [] };
  }
  const name = customToolName(node.tool_name);
  const custom = name === undefined ? undefined : await findCustomTool(db, { workspaceId, name });
  return {
    ...targetOfTool(node.tool_name, custom),
    schema: schemaOf(node.tool_name, custom),
    fixed: [...(addressing[node.tool_name] ?? []), ...withSecrets(node)],
  };
}

/** The workflow that a step would run; undefined when there is none. */
export async function findChosen(
  db: Db,
  called: Parameters<typeof findCalled>[1],
): Promise<Awaited<ReturnType<typeof findCalled>> | undefined> {
  try {
    return await findCalled(db, called);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The names of the parameters that contain secrets or addresses of callbacks. */
const withSecrets = (node: ApprovedNode): string[] =>
  nodeTexts(node).flatMap(({ secrets, callbacks, text, path }) =>
    templateReads(text).some(
      ({ key }) =>
        (secrets === true && (key === SECRETS || key === CONNECTIONS)) ||
        (callbacks === true && key === CALLBACKS),
    )
      ? [/^params\.([^.[]+)/.exec(path)?.[1] ?? path]
      : [],
  );
