import { z } from 'zod';
import { overrunModes } from '#shared/contract/money/budget.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import type {
  CallTarget,
  WorkflowDefinition,
  WorkflowDefinitions,
} from '#shared/agents/offered-tools.ts';
import {
  type CalledWorkflow,
  type CallProblems,
  callKey,
  drawnVersion,
} from '#shared/graph/children/called-workflows.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { asTool } from '#shared/tools.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const foundRow = z.object({
  id: z.string(),
  name: z.string(),
  by_id: z.boolean(),
  current: z.number(),
  has_version: z.boolean(),
});

/**
 * The workflow that a node refers to at present, and its version. Throws AppError `not_found` if the workspace does not
 * have it, or not in this version, and `conflict` if several workflows have the name.
 */
export async function findCalled(
  db: Db,
  { workspaceId, workflow, version }: CalledWorkflow & { workspaceId: string },
): Promise<{ id: string; name: string; version: number }> {
  const [first, second] = await db.any(statement(foundRow)`
    SELECT w.id, w.name, w.id = ${workflow} AS by_id, w.version AS current,
           ${version ?? null}::int IS NULL OR EXISTS (
             SELECT FROM workflow_versions v WHERE v.workflow_id = w.id AND v.version = ${version ?? null}::int
           ) AS has_version
    FROM workflows w
    WHERE w.workspace_id = ${workspaceId} AND (w.id = ${workflow} OR w.name = ${workflow})
    ORDER BY by_id DESC LIMIT 2
  `);
  if (first === undefined) throw new AppError('not_found', unknownText(workflow));
  if (second !== undefined && !first.by_id) throw conflict(ambiguousText(workflow));
  if (!first.has_version) throw new AppError('not_found', noVersionText(workflow, version ?? 0));
  return { id: first.id, name: first.name, version: version ?? first.current };
}

/** What a call of a workflow as a tool reaches: the version that will run. */
export const targetOfWorkflow = (called: { id: string; version: number }): CallTarget => ({
  workflow_id: called.id,
  version: called.version,
});

const definitionRow = z.object({
  at: z.number(),
  id: z.string(),
  version: z.number(),
  name: z.string(),
  description: z.string(),
  by_id: z.boolean(),
  input_schema: storedJson<JsonObject | null>(),
});

/** The tools that agents offer for these workflows' current versions, by the given id or name. */
export async function readWorkflowDefinitions(
  db: Db,
  { workspaceId, workflows }: { workspaceId: string; workflows: readonly string[] },
): Promise<WorkflowDefinitions> {
  const named = [...new Set(workflows)];
  if (named.length === 0) return new Map();
  const rows = await db.any(statement(definitionRow)`
    SELECT a.at::int, w.id, w.version, w.name, w.description, w.id = a.workflow AS by_id, v.input_schema
    FROM unnest(${sql.array(named, 'text')}) WITH ORDINALITY AS a (workflow, at)
    JOIN workflows w ON w.workspace_id = ${workspaceId} AND (w.id = a.workflow OR w.name = a.workflow)
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    ORDER BY a.at, by_id DESC
  `);
  const found = Map.groupBy(rows, ({ at }) => at);
  return new Map(
    named.map((workflow, at) => [workflow, definitionOf(workflow, found.get(at + 1))]),
  );
}

function definitionOf(
  workflow: string,
  [first, second]: z.infer<typeof definitionRow>[] = [],
): WorkflowDefinition {
  if (first === undefined) return { problem: unknownText(workflow) };
  if (second !== undefined && !first.by_id) return { problem: ambiguousText(workflow) };
  const { name, description, input_schema } = first;
  return { name, description, input_schema, target: targetOfWorkflow(first) };
}

const unknownText = (workflow: string): string =>
  `There is no workflow '${workflow}' in this workspace: create it, or name another one`;
const ambiguousText = (workflow: string): string =>
  `Several workflows are named '${workflow}': name one by its id`;
const noVersionText = (workflow: string, version: number): string =>
  `Workflow '${workflow}' has no version ${version}: name one that it has, or leave out the version`;

const calledRow = z.object({
  at: z.number(),
  id: z.string(),
  name: z.string(),
  by_id: z.boolean(),
  version: z.number().nullable(),
  run_cap_micros: z.number().nullable(),
  overrun: z.enum(overrunModes),
  calls: z.array(z.object({ workflow: z.string(), version: z.string().nullable() })),
});

/**
 * The calls in the graph of a version `v`. The graph may be a draft with any JSON in place of a node. It is `calledIn`
 * in SQL, so that a search does not need to read the graphs.
 */
const callsOf = sql.fragment`
  SELECT coalesce(json_agg(json_build_object('workflow', c.workflow, 'version', c.version)), '[]')
  FROM json_array_elements(v.graph -> 'nodes') AS n CROSS JOIN LATERAL (
    SELECT n ->> 'workflow' AS workflow, n ->> 'version' AS version WHERE n ->> 'kind' = 'workflow'
    UNION ALL
    SELECT substr(t.name, length(${asTool('')}::text) + 1), NULL FROM (
      SELECT CASE json_typeof(entry) WHEN 'string' THEN entry #>> '{}' WHEN 'object' THEN entry ->> 'name' END AS name
      FROM json_array_elements(CASE WHEN json_typeof(n -> 'tools') = 'array' THEN n -> 'tools' ELSE '[]' END) AS entry
    ) AS t WHERE n ->> 'kind' = 'agent' AND starts_with(t.name, ${asTool('')}::text)
  ) AS c WHERE c.workflow IS NOT NULL`;

/** A version of a workflow that the search found. */
interface Found {
  id: string;
  name: string;
  version: number;
  /** The cap on a run of the workflow, in micro-dollars. */
  run_cap_micros: number | null;
  overrun: (typeof overrunModes)[number];
  calls: CalledWorkflow[];
}

/** How many versions the search for cycles reads. A cycle beyond them is stopped by the limit on depth. */
const MAX_SEARCHED = 500;

/**
 * The problems of a version's calls, by `callKey`: a workflow that does not exist in the workspace, or a path back to
 * this version through the current versions of the workflows it calls. `calls` are the calls of its graph or of a
 * draft.
 */
export async function readCallProblems(
  db: Db,
  {
    workspaceId,
    calls,
    ...start
  }: { workspaceId: string; id: string; version: number; calls: readonly CalledWorkflow[] },
): Promise<CallProblems> {
  const startCall = { workflow: start.id, version: start.version };
  const found = await resolve(db, workspaceId, [startCall]);
  const self = found.get(callKey(startCall));
  if (typeof self !== 'object') return {};
  self.calls = [...calls];
  await search(db, workspaceId, found, self.calls);
  const problems: CallProblems = {};
  for (const call of calls) {
    const result = found.get(callKey(call));
    if (typeof result === 'string') {
      problems[callKey(call)] = { code: 'workflow_unknown', message: result };
      continue;
    }
    const way = wayBack(found, call, start);
    if (way === undefined) continue;
    const names = [self, ...way].map(({ name }) => `'${name}'`).join(' → ');
    const message = `The workflow would start itself, ${names}: remove one of these calls`;
    problems[callKey(call)] = { code: 'workflow_cycle', message };
  }
  return problems;
}

/** Finds the versions that these calls reach, directly or indirectly, and adds them. */
async function search(
  db: Db,
  workspaceId: string,
  found: Map<string, Found | string>,
  calls: readonly CalledWorkflow[],
): Promise<void> {
  let open = calls.filter((call) => !found.has(callKey(call)));
  while (open.length > 0 && found.size < MAX_SEARCHED) {
    for (const [key, result] of await resolve(db, workspaceId, open)) found.set(key, result);
    const next = open.flatMap((call) => {
      const result = found.get(callKey(call));
      return typeof result === 'object' ? result.calls : [];
    });
    open = next.filter((call) => !found.has(callKey(call)));
  }
}

/**
 * The workflow, and the versions that the calls of its graph reach, directly or indirectly, by `callKey`: the version
 * that each call refers to at present, or why there is none. If there are very many, some are missing. Throws AppError
 * `not_found`.
 */
export async function readCalledVersions(
  db: Db,
  ids: { workspaceId: string; workflowId: string },
  calls: readonly CalledWorkflow[],
): Promise<{ self: Found; called: ReadonlyMap<string, Found | string> }> {
  const { workspaceId, workflowId: workflow } = ids;
  const called = await resolve(db, workspaceId, [{ workflow }, ...calls]);
  const self = called.get(callKey({ workflow }));
  if (typeof self !== 'object') throw notFound('Workflow');
  const further = calls.flatMap((call) => {
    const result = called.get(callKey(call));
    return typeof result === 'object' ? result.calls : [];
  });
  await search(db, workspaceId, called, further);
  return { self, called };
}

/** How many graphs of called workflows are read, and their maximum total length in characters. */
const MAX_GRAPHS = 200;
const MAX_GRAPH_LENGTH = 4_000_000;

const graphRow = z.object({
  id: z.string(),
  version: z.number(),
  graph: storedJson(),
});

/**
 * The saved graphs of the workflows that these calls reach, directly or indirectly, by `callKey`. If there are very
 * many, or very large ones, some are missing.
 */
export async function readCalledGraphs(
  db: Db,
  workspaceId: string,
  calls: readonly CalledWorkflow[],
): Promise<Record<string, { id: string; version: number; graph: Json }>> {
  if (calls.length === 0) return {};
  const found = new Map<string, Found | string>();
  await search(db, workspaceId, found, calls);
  const called = [...found].flatMap(([key, result]) =>
    typeof result === 'object' ? [{ key, id: result.id, version: result.version }] : [],
  );
  const rows = await db.any(statement(graphRow)`
    SELECT id, version, graph FROM (
      SELECT w.id, v.version, v.graph, sum(length(v.graph::text)) OVER (ORDER BY w.id, v.version) AS length
      FROM (
        SELECT DISTINCT c.id, c.version
        FROM json_to_recordset(${JSON.stringify(called)}::json) AS c (id text, version int) LIMIT ${MAX_GRAPHS}
      ) AS c
      JOIN workflows w ON w.id = c.id AND w.workspace_id = ${workspaceId}
      JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = c.version
    ) AS g WHERE length <= ${MAX_GRAPH_LENGTH}
  `);
  const graphs = new Map(rows.map((row) => [`${row.id}/${row.version}`, row]));
  return Object.fromEntries(
    called.flatMap(({ key, id, version }) => {
      const row = graphs.get(`${id}/${version}`);
      return row === undefined ? [] : [[key, row]];
    }),
  );
}

/** The shortest path from a call to a version, ending with that version; undefined when there is none. */
function wayBack(
  found: ReadonlyMap<string, Found | string>,
  call: CalledWorkflow,
  to: { id: string; version: number },
): Found[] | undefined {
  const seen = new Set<string>();
  let ways: { call: CalledWorkflow; way: Found[] }[] = [{ call, way: [] }];
  while (ways.length > 0) {
    const next: typeof ways = [];
    for (const { call: step, way } of ways) {
      const result = found.get(callKey(step));
      if (typeof result !== 'object') continue;
      const here = [...way, result];
      if (result.id === to.id && result.version === to.version) return here;
      if (seen.has(callKey(step))) continue;
      seen.add(callKey(step));
      next.push(...result.calls.map((further) => ({ call: further, way: here })));
    }
    ways = next;
  }
  return undefined;
}

/** For each call, the version that it refers to at present, or why there is none. */
async function resolve(
  db: Db,
  workspaceId: string,
  calls: readonly CalledWorkflow[],
): Promise<Map<string, Found | string>> {
  const rows = await db.any(statement(calledRow)`
    SELECT a.at::int, w.id, w.name, w.id = a.workflow AS by_id, v.version, w.run_cap_micros, w.overrun, (${callsOf}) AS calls
    FROM json_to_recordset(${JSON.stringify(calls.map((call, at) => ({ at, ...call })))}::json)
           AS a (at int, workflow text, version int)
    JOIN workflows w ON w.workspace_id = ${workspaceId} AND (w.id = a.workflow OR w.name = a.workflow)
    LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = coalesce(a.version, w.version)
    ORDER BY a.at, by_id DESC
  `);
  return new Map(
    calls.map((call, at): [string, Found | string] => {
      const { workflow, version = 0 } = call;
      const [first, second] = rows.filter((row) => row.at === at);
      if (first === undefined) return [callKey(call), unknownText(workflow)];
      if (second !== undefined && !first.by_id) return [callKey(call), ambiguousText(workflow)];
      if (first.version === null) return [callKey(call), noVersionText(workflow, version)];
      const further = first.calls.map(toCall);
      return [callKey(call), { ...first, version: first.version, calls: further }];
    }),
  );
}

const toCall = ({ workflow, version }: z.infer<typeof calledRow>['calls'][number]) => ({
  workflow,
  version: drawnVersion(version ?? undefined),
});
