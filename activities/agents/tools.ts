import type { OfferedTool } from '../../shared/agents/offered-tool.ts';
import type { AgentNode } from '../../shared/contract/graph.ts';
import { jsonDigest } from '../../shared/crypto/digests.ts';
import { findCustomTool } from '../../shared/db/workflows/custom-tools.ts';
import type { Pool } from '../../shared/db/pool.ts';
import { customToolName } from '../../shared/tools.ts';

// STAND-IN until the resolution of tools is merged.
export async function resolveTools(
  db: Pool,
  workspaceId: string,
  node: AgentNode,
): Promise<OfferedTool[]> {
  const tools: OfferedTool[] = [];
  for (const entry of node.tools ?? []) {
    const tool = typeof entry === 'string' ? { name: entry, on_error: 'tell' as const } : entry;
    const name = customToolName(tool.name);
    const custom = name === undefined ? undefined : await findCustomTool(db, { workspaceId, name });
    const schema = tool.parameters ?? custom?.input_schema ?? { type: 'object' };
    tools.push({
      name: tool.name,
      providerName: tool.name.replace(/[:.]/g, '_'),
      description: '',
      schema,
      schemaDigest: jsonDigest(schema),
      approval: tool.approval ?? 'never',
      fixed: Object.keys(tool.fixed ?? {}),
      maxCalls: tool.max_calls,
      onError: tool.on_error,
    });
  }
  return tools;
}
