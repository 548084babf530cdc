import { ApplicationFailure } from '@temporalio/activity';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { offeredTools } from '#shared/agents/offered-tools.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { findOfferedDefinitions } from '#shared/db/tools/custom-tools.ts';
import type { Pool } from '#shared/db/pool.ts';
import { FAILURE_NODE } from '#shared/execution.ts';

/**
 * The present tools of an agent. Throws a failure that is not retried if one of them cannot be offered because it was
 * deleted or lost its schema after the graph was checked. It is not a NodeError, since the step is not claimed yet.
 */
export async function resolveTools(
  db: Pool,
  workspaceId: string,
  node: AgentNode,
): Promise<OfferedTool[]> {
  const definitions = await findOfferedDefinitions(db, { workspaceId, node });
  const { tools, problems } = offeredTools(node, definitions, jsonDigest);
  const [problem] = problems;
  if (problem !== undefined) {
    throw ApplicationFailure.nonRetryable(
      `Its tools cannot be offered: ${problem.message}`,
      FAILURE_NODE,
    );
  }
  return tools;
}
