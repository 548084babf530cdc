import { z } from 'zod';
import type { Runnable } from '../db/admission.ts';
import { type Db, sql } from '../db/pool.ts';
import { AppError } from '../errors.ts';
import { checkGraph } from '../graph-check.ts';
import { builtinTools } from '../tools.ts';

/** How many reasons a refusal spells out. All of them are in the answer of `validate`. */
const MAX_REASONS = 5;

const noCustomTools: ReadonlySet<string> = new Set();

/** The current version of workflows as this process last saw them; the oldest is forgotten first. */
const MAX_REMEMBERED = 200;
const remembered = new Map<string, Runnable>();

const currentRow = z.object({ version: z.number(), graph: z.unknown() });

/**
 * A workflow's current version with its graph as it will run, defaults filled in, or with the reasons why it cannot
 * run. A remembered answer may be of an earlier version, which `admitRun` finds out; `anew` looks at the database.
 */
export async function findRunnable(
  db: Db,
  ids: { workspaceId: string; workflowId: string },
  anew: boolean,
): Promise<Runnable | undefined> {
  const key = `${ids.workspaceId}/${ids.workflowId}`;
  const known = remembered.get(key);
  if (known !== undefined && !anew) return known;
  remembered.delete(key);
  const current = await db.maybeOne(sql.prepared('runnable_current', currentRow)`
    SELECT w.version, v.graph
    FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    WHERE w.id = ${ids.workflowId} AND w.workspace_id = ${ids.workspaceId}
  `);
  if (current === null) return undefined;
  const found: Runnable = { version: current.version, ...judge(current.graph) };
  remembered.set(key, found);
  const oldest = remembered.keys().next();
  if (remembered.size > MAX_REMEMBERED && oldest.done !== true) remembered.delete(oldest.value);
  return found;
}

function judge(graph: unknown): Pick<Runnable, 'graph' | 'refusal'> {
  const report = checkGraph(graph, { tools: builtinTools, customTools: noCustomTools });
  if (report.graph !== undefined && report.valid) return { graph: report.graph };
  const reasons = report.errors.slice(0, MAX_REASONS).map((issue) => issue.message);
  const more = report.errors.length - reasons.length;
  return {
    refusal: new AppError(
      'graph_invalid',
      `Workflow graph invalid: ${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    ),
  };
}
