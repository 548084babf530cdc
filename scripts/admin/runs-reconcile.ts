import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findOpenRuns, listCrashedRuns } from '#shared/db/runs/open-runs.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import {
  type DispatchDeps,
  listOpenExecutions,
  type OpenExecution,
  terminate,
} from '#shared/operations/runs/executions.ts';
import { resumeRun } from '#shared/operations/runs/runs.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { findServers } from '#scripts/running-service.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { runCommand } from './command.ts';

/**
 * `npm run runs:reconcile [-- --close] [--resume] [--since <ISO 8601 time>]`: compares Postgres and Temporal, for
 * example after one of them was restored. Lists executions that are open in Temporal although their run has ended or
 * Postgres does not know it, and runs that have failed since then (default: the last day) because their execution was
 * missing. `--close` terminates these executions, `--resume` resumes these runs. Exits with code 1 if something is left
 * to do, 2 if it could not finish.
 */

/** A run that is ending has an open execution for a moment. */
const SECOND_LOOK_MS = 3_000;
const DAY_MS = 24 * 3_600_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      close: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      since: { type: 'string' },
    },
  });
  const since = values.since === undefined ? new Date(Date.now() - DAY_MS) : new Date(values.since);
  if (Number.isNaN(since.getTime())) {
    throw new Error(`--since ${values.since} is not a time: write it like 2026-11-27T08:00:00Z`);
  }
  const config = findServers();
  const db = await connectDatabase(config.database.url, { maxPoolSize: 2 });
  const temporal = connectTemporal(config, db);
  const log = createLogger({ name: 'runs-reconcile', level: 'warn' });
  const deps: DispatchDeps = { db, temporal, config, log };
  try {
    const left = [
      await closeOrphans(deps, values.close),
      await resumeCrashed(deps, since, values.resume),
    ];
    return left.some((count) => count > 0) ? 1 : 0;
  } finally {
    await temporal.close();
    await db.end();
  }
}

/** Returns how many are left open. */
async function closeOrphans(deps: DispatchDeps, close: boolean): Promise<number> {
  const first = await findOrphans(deps);
  if (first.size > 0) await sleep(SECOND_LOOK_MS);
  const orphans = first.size === 0 ? [] : [...(await findOrphans(deps)).values()];
  const open = orphans.filter(({ execution }) => first.has(execution));
  for (const { runId, execution } of open) {
    console.log(
      `${close ? 'closing' : 'open'}: execution ${execution} of ${runId}, which has no open run`,
    );
    if (close) await terminate(deps, runId, execution, 'its run has ended or is not known');
  }
  console.log(`${open.length} executions without an open run${close ? ', closed' : ''}`);
  return close ? 0 : open.length;
}

async function findOrphans(deps: DispatchDeps): Promise<Map<string, OpenExecution>> {
  const found = new Map<string, OpenExecution>();
  for await (const page of listOpenExecutions(deps)) {
    const open = await findOpenRuns(
      deps.db,
      page.map(({ runId }) => runId),
    );
    for (const each of page) if (!open.has(each.runId)) found.set(each.execution, each);
  }
  return found;
}

/** Returns how many are left failed. */
async function resumeCrashed(deps: DispatchDeps, since: Date, resume: boolean): Promise<number> {
  const crashed = await listCrashedRuns(deps.db, since);
  let left = crashed.length;
  for (const { id: runId, workspace_id: workspaceId, error } of crashed) {
    const actor = {
      workspaceId,
      id: null,
      name: 'operator',
      role: 'admin',
      overrides: {},
    } as const;
    if (!resume) {
      console.log(`failed: ${runId}: ${error}`);
      continue;
    }
    try {
      const { dispatched } = await resumeRun(deps, { actor, runId });
      await dispatched;
      left -= 1;
      console.log(`resumed: ${runId}`);
    } catch (problem) {
      console.log(`not resumed: ${runId}: ${messageOf(problem)}`);
    }
  }
  console.log(
    `${crashed.length} runs failed without their execution since ${since.toISOString()}` +
      (resume ? `, ${crashed.length - left} resumed` : ''),
  );
  return left;
}

await runCommand({ says: 'Postgres and Temporal were not compared', code: 2 }, main);
