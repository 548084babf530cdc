import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { DraftGraph } from '#shared/contract/workflows/graph.ts';
import type { WorkflowUpdate } from '#shared/contract/workflows/workflow.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const json = storedJson();
const schema = storedJson<JsonObject | null>();

/** The content of a version: the graph as saved, and its input schema. */
interface VersionContent {
  graph: DraftGraph;
  inputSchema: JsonObject | null;
}

/** Who wrote a version. */
type Author = Pick<Actor, 'id' | 'name'>;

/** The caller must have locked the workflow. */
export async function insertVersion(
  tx: Tx,
  author: Author,
  version: VersionContent & { workflowId: string; version: number; note?: string | undefined },
): Promise<void> {
  const { graph, inputSchema } = version;
  await tx.query(statement(z.object({}))`
    INSERT INTO workflow_versions (workflow_id, version, graph, input_schema, created_by, created_by_name, note)
    VALUES (${version.workflowId}, ${version.version}, ${JSON.stringify(graph)}::json,
            ${inputSchema === null ? null : JSON.stringify(inputSchema)}::json, ${author.id}, ${author.name},
            ${version.note ?? null})
  `);
}

const contentRow = z.object({ graph: json, input_schema: schema });

/** The next version and the fields that it changes; undefined when it would equal the current one. */
export async function nextVersion(
  tx: Tx,
  current: { workflowId: string; version: number },
  wanted: Pick<WorkflowUpdate, 'graph' | 'input_schema'>,
): Promise<{ content: VersionContent; changed: Json[] } | undefined> {
  const saved = await tx.one(statement(contentRow)`
    SELECT graph, input_schema FROM workflow_versions
    WHERE workflow_id = ${current.workflowId} AND version = ${current.version}
  `);
  const { graph = saved.graph, input_schema = saved.input_schema } = wanted;
  const after = { graph: graph as unknown as Json, input_schema };
  const changed = (['graph', 'input_schema'] as const).filter(
    (field) => canonicalJson(saved[field]) !== canonicalJson(after[field]),
  );
  if (changed.length === 0) return undefined;
  return { content: { graph: graph as unknown as DraftGraph, inputSchema: input_schema }, changed };
}
