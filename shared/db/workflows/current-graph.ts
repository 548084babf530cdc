import { z } from 'zod';
import type {
  CustomToolDefinition,
  CustomToolDefinitions,
  WorkflowDefinitions,
} from '#shared/agents/offered-tools.ts';
import { notFound } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { SecretHosts } from '#shared/graph/validate/secrets.ts';
import { offeredNamesOf } from '#shared/graph/node-tools.ts';
import type { StoredLimits } from '#shared/contract/limits/limits.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { customToolNames } from '#shared/tools.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import {
  calledIn,
  type CallProblems,
  offeredWorkflowsOf,
} from '#shared/graph/children/called-workflows.ts';
import { readCallProblems, readWorkflowDefinitions } from '#shared/db/children/called-workflows.ts';
import { readToolDefinitions } from '#shared/db/tools/custom-tools.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const currentRow = z.object({
  version: z.number(),
  graph: storedJson(),
  input_schema: storedJson<JsonObject | null>(),
  tool_revision: z.number(),
  limits_revision: z.number().nullable(),
  limits: storedJson<StoredLimits>().nullable(),
  may_set_secrets: z.boolean(),
  custom_tools: z.array(z.string()),
  secrets: z.record(z.string(), z.array(z.string())),
  connections: z.record(z.string(), z.array(z.string())),
});

/** The graph of a workflow's current version, or of another version, as saved, with the tools it can call. */
export interface CurrentGraph {
  version: number;
  graph: Json;
  /** Whether it was stored when a node could still set the key `secrets`. */
  maySetSecrets: boolean;
  /** The input schema; null accepts any object. */
  inputSchema: JsonObject | null;
  /** The workspace's custom tools. Only those that an agent in the graph offers have all fields. */
  customTools: CustomToolDefinitions;
  /** The workflows that agents in the graph offer. */
  workflows: WorkflowDefinitions;
  /** The allowed hosts of the workspace's secrets. */
  secrets: SecretHosts;
  /** The allowed hosts of the workspace's connections. */
  connections: SecretHosts;
  /** Problems of the workflows that it calls. */
  calls: CallProblems;
  /** Increases with each change of these names, schemas and hosts. */
  toolRevision: number;
  /** The limits of its runs, and the revision that counts their changes; undefined: there are none. */
  limits: { revision: number; settings: StoredLimits } | undefined;
}

/** What takes the place of a version's graph or input schema. */
export type Drawn = { [Part in 'graph' | 'inputSchema']?: CurrentGraph[Part] | undefined };

/**
 * Reads the graph, the revision and the names as of one moment. The schemas that agents offer are the same or newer; a
 * newer one has a higher revision. `drawn` replaces the graph or the schema of the version. Undefined when the workspace
 * has no such workflow.
 */
export async function readCurrentGraph(
  db: Db,
  ids: { workspaceId: string; workflowId: string; version?: number },
  drawn: Drawn = {},
): Promise<CurrentGraph | undefined> {
  const row = await db.maybeOne(statement(currentRow)`
    SELECT v.version, v.graph, v.input_schema, v.may_set_secrets, s.tool_revision,
           w.limits_revision, l.settings AS limits,
           ARRAY(SELECT name FROM custom_tools WHERE workspace_id = ${ids.workspaceId}) AS custom_tools,
           (SELECT coalesce(json_object_agg(name, allowed_hosts), '{}') FROM secrets
            WHERE workspace_id = ${ids.workspaceId}) AS secrets,
           (SELECT coalesce(json_object_agg(name, allowed_hosts), '{}') FROM connections
            WHERE workspace_id = ${ids.workspaceId}) AS connections
    FROM workflows w
    JOIN workspaces s ON s.id = w.workspace_id
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = coalesce(${ids.version ?? null}::int, w.version)
    LEFT JOIN workflow_limits l ON l.workflow_id = w.id AND l.revision = w.limits_revision
    WHERE w.id = ${ids.workflowId} AND w.workspace_id = ${ids.workspaceId}
  `);
  if (row === null) return undefined;
  const { graph = row.graph, inputSchema = row.input_schema } = drawn;
  const { workspaceId } = ids;
  const nodes = nodesOf(graph);
  const offered = customToolNames(nodes.flatMap(offeredNamesOf)).filter((name) =>
    row.custom_tools.includes(name),
  );
  const complete = await readToolDefinitions(db, { workspaceId, names: offered });
  return {
    version: row.version,
    maySetSecrets: drawn.graph === undefined && row.may_set_secrets,
    graph,
    inputSchema,
    customTools: new Map<string, CustomToolDefinition>([
      ...row.custom_tools.map((name) => [name, NAMED] as const),
      ...complete,
    ]),
    workflows: await readWorkflowDefinitions(db, {
      workspaceId,
      workflows: nodes.flatMap(offeredWorkflowsOf),
    }),
    secrets: new Map(Object.entries(row.secrets)),
    connections: new Map(Object.entries(row.connections)),
    calls: await readCalls(db, ids, row.version, graph),
    toolRevision: row.tool_revision,
    limits:
      row.limits_revision === null || row.limits === null
        ? undefined
        : { revision: row.limits_revision, settings: row.limits },
  };
}

async function readCalls(
  db: Db,
  { workspaceId, workflowId: id }: { workspaceId: string; workflowId: string },
  version: number,
  graph: Json,
): Promise<CallProblems> {
  const calls = calledIn(graph);
  return calls.length === 0 ? {} : readCallProblems(db, { workspaceId, id, version, calls });
}

const schemaRow = currentRow.pick({ input_schema: true });

/** The input schema of the current version; null if it has none. Throws AppError `not_found`. */
export async function readInputSchema(
  db: Db,
  ids: { workspaceId: string; workflowId: string },
): Promise<JsonObject | null> {
  const row = await db.maybeOne(statement(schemaRow)`
    SELECT v.input_schema
    FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    WHERE w.id = ${ids.workflowId} AND w.workspace_id = ${ids.workspaceId}
  `);
  if (row === null) throw notFound('Workflow');
  return row.input_schema;
}

/** A tool that no agent offers. */
const NAMED = { label: '', description: '', input_schema: null };

function nodesOf(graph: Json): readonly Json[] {
  const nodes = isObject(graph) ? graph['nodes'] : undefined;
  return Array.isArray(nodes) ? nodes : [];
}
