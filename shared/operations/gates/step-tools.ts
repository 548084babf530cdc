import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { findCalled, targetOfWorkflow } from '#shared/db/children/called-workflows.ts';
import type { Db } from '#shared/db/pool.ts';
import { type CustomTool, findCustomTool, targetOf } from '#shared/db/tools/custom-tools.ts';
import { AppError } from '#shared/errors.ts';
import type { StepToApprove } from '#shared/graph/gates/gate-opening.ts';
import {
  ANY_ARGUMENTS,
  schemaOfTool,
  type StepTool,
  stepToolOf,
} from '#shared/graph/gates/step-tool.ts';
import type { ApprovedNode } from '#shared/graph/node-approval.ts';
import { customToolName } from '#shared/tools.ts';

/** What an approval of a step is bound to, besides the arguments. */
export type StepTarget = Pick<StepToApprove, 'schema_digest' | 'tool_digest'>;

/** What a step of a tool reaches; undefined `custom`: it is a built-in tool, or is not registered any more. */
export function targetOfTool(name: string, custom: CustomTool | undefined): StepTarget {
  return {
    schema_digest: jsonDigest(schemaOfTool(name, custom?.input_schema)),
    tool_digest: custom === undefined ? null : jsonDigest(targetOf(custom)),
  };
}

/** What a step that starts a run reaches. Null when there is no such workflow: then the step fails. */
export const targetOfChild = (called: { id: string; version: number } | undefined): StepTarget => ({
  schema_digest: jsonDigest(ANY_ARGUMENTS),
  tool_digest: called === undefined ? null : jsonDigest(targetOfWorkflow(called)),
});

/** The tool of a step that needs approval: the schema of its arguments, and those that an approver cannot change. */
export async function findStepTool(
  db: Db,
  workspaceId: string,
  node: ApprovedNode,
): Promise<StepTarget & StepTool> {
  if (node.kind === 'workflow') {
    const called = await findChosen(db, { workspaceId, ...node });
    return { ...targetOfChild(called), ...stepToolOf(node, undefined) };
  }
  const name = customToolName(node.tool_name);
  const custom = name === undefined ? undefined : await findCustomTool(db, { workspaceId, name });
  return {
    ...targetOfTool(node.tool_name, custom),
    ...stepToolOf(node, custom?.input_schema),
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
