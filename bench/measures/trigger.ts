import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { chain } from '#bench/graphs.ts';
import { atMost, compareSamples, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, interleave, timed } from '#bench/statistics.ts';

/** Compares the response time of a trigger with the writes and the start that it needs. */
export async function trigger({ service, bare, databaseUrl }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ workspace_id: string }>(
      'SELECT workspace_id FROM workflows WHERE id = $1',
      [workflow],
    );
    const workspace = rows[0]?.workspace_id ?? '';
    // Each side ends its run before the other starts; only the response is timed.
    const ours = async (): Promise<number> => {
      let runId = '';
      const ms = await timed(async () => {
        runId = await service.trigger(workflow);
      });
      await service.until(runId, 'ended');
      return ms;
    };
    const baseline = async (): Promise<number> => {
      const id = `bare_${randomUUID()}`;
      let done = async (): Promise<unknown> => undefined;
      const ms = await timed(async () => {
        await writeRun(client, { id, workspace, workflow });
        ({ done } = await bare.start(3));
      });
      await done();
      await client.query('DELETE FROM outbox WHERE run_id = $1', [id]);
      await client.query('DELETE FROM runs WHERE id = $1', [id]);
      return ms;
    };
    await flood(10, 1, ours);
    await flood(10, 1, baseline);
    const samples = await interleave({ count: 150, least: 30, budgetMs: 30_000 }, ours, baseline);
    return [
      compareSamples(samples, {
        measure: 'trigger answer / one transaction and one start',
        unit: 'ms',
        bound: atMost(1.3),
        notes: ['the baseline makes no HTTP request, checks nothing and reads nothing back'],
      }),
    ];
  } finally {
    await client.end();
  }
}

/** The rows of one admission: the run, its audit entry and its outbox row, leased so that no process dispatches it. */
async function writeRun(
  client: pg.Client,
  run: { id: string; workspace: string; workflow: string },
): Promise<void> {
  await client.query('BEGIN');
  await client.query({
    name: 'bare_run',
    text: `INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, created_by_name)
           VALUES ($1, $2, $3, 1, 'manual', '{}', 'bench')`,
    values: [run.id, run.workspace, run.workflow],
  });
  await client.query({
    name: 'bare_audit',
    text: `INSERT INTO audit_log (id, workspace_id, action, target_type, target_id, details)
           VALUES ($1, $2, 'run', 'workflow', $3, '{"trigger": "manual"}')`,
    values: [run.id, run.workspace, run.workflow],
  });
  await client.query({
    name: 'bare_outbox',
    text: `INSERT INTO outbox (run_id, kind, leased_until) VALUES ($1, 'start', now() + interval '1 hour')`,
    values: [run.id],
  });
  await client.query('COMMIT');
}
