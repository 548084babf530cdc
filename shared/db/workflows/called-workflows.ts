import { z } from 'zod';
import { AppError, conflict } from '../../errors.ts';
import { type CalledWorkflow, type CallProblems, callKey } from '../../graph/called-workflows.ts';
import { type Db, sql } from '../pool.ts';

const foundRow = z.object({ id: z.string(), by_id: z.boolean(), has_version: z.boolean() });

/**
 * The workflow that a node names, now. Throws AppError `not_found` for one that the workspace does not have, or not in
 * this version, and `conflict` when several have the name.
 */
export async function findCalled(
  db: Db,
  { workspaceId, workflow, version }: CalledWorkflow & { workspaceId: string },
): Promise<{ id: string }> {
  const [first, second] = await db.any(sql.prepared('called_find', foundRow)`
    SELECT w.id, w.id = ${workflow} AS by_id,
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
  return { id: first.id };
}

const unknownText = (workflow: string): string => `The workspace has no workflow '${workflow}'`;
const ambiguousText = (workflow: string): string =>
  `Several workflows are named '${workflow}'; name one by its id`;
const noVersionText = (workflow: string, version: number): string =>
  `Workflow '${workflow}' has no version ${version}`;

const calledRow = z.object({
  at: z.number(),
  id: z.string(),
  name: z.string(),
  by_id: z.boolean(),
  version: z.number().nullable(),
  calls: z.array(z.object({ workflow: z.string(), version: z.string().nullable() })),
});

/** The calls in the graph of a version `v`, which may be a draft with anything in place of a node. */
const callsOf = sql.fragment`
  SELECT coalesce(json_agg(json_build_object('workflow', c.workflow, 'version', c.version)), '[]')
  FROM json_array_elements(v.graph -> 'nodes') AS n CROSS JOIN LATERAL (
    SELECT n ->> 'workflow' AS workflow, n ->> 'version' AS version WHERE n ->> 'kind' = 'workflow'
  ) AS c WHERE c.workflow IS NOT NULL`;

/** A version of a workflow that the search has found. */
interface Found {
  id: string;
  name: string;
  version: number;
  calls: CalledWorkflow[];
}

/** How many versions the search for cycles reads. A run beyond them is stopped by its depth. */
const MAX_SEARCHED = 500;

/**
 * What is wrong with the calls of a version, by `callKey`: a workflow that the workspace does not have, or a way back to
 * this version through the workflows that it calls, as they are now.
 */
export async function readCallProblems(
  db: Db,
  { workspaceId, ...start }: { workspaceId: string; id: string; version: number },
): Promise<CallProblems> {
  const startCall = { workflow: start.id, version: start.version };
  const found = new Map<string, Found | string>();
  for (let open: CalledWorkflow[] = [startCall]; open.length > 0 && found.size < MAX_SEARCHED;) {
    for (const [key, result] of await resolve(db, workspaceId, open)) found.set(key, result);
    const next = open.flatMap((call) => {
      const result = found.get(callKey(call));
      return typeof result === 'object' ? result.calls : [];
    });
    open = next.filter((call) => !found.has(callKey(call)));
  }
  const self = found.get(callKey(startCall));
  const problems: CallProblems = {};
  for (const call of typeof self === 'object' ? self.calls : []) {
    const result = found.get(callKey(call));
    if (typeof result === 'string') {
      problems[callKey(call)] = { code: 'workflow_unknown', message: result };
      continue;
    }
    const way = wayBack(found, call, start);
    if (way === undefined) continue;
    const message = `The workflow would start itself: ${[self as Found, ...way].map(({ name }) => `'${name}'`).join(' → ')}`;
    problems[callKey(call)] = { code: 'workflow_cycle', message };
  }
  return problems;
}

/** The shortest way from a call to a version, ending with it; undefined when there is none. */
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

/** Per call the version that it names now, or why there is none. */
async function resolve(
  db: Db,
  workspaceId: string,
  calls: readonly CalledWorkflow[],
): Promise<Map<string, Found | string>> {
  const rows = await db.any(sql.prepared('called_resolve', calledRow)`
    SELECT a.at::int, w.id, w.name, w.id = a.workflow AS by_id, v.version, (${callsOf}) AS calls
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

const toCall = (drawn: { workflow: string; version: string | null }): CalledWorkflow => {
  const version = Number(drawn.version ?? 'none');
  const whole = Number.isSafeInteger(version) && version > 0 && version < 2 ** 31;
  return whole ? { workflow: drawn.workflow, version } : { workflow: drawn.workflow };
};
