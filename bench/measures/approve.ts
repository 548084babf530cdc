import { gated } from '#bench/graphs.ts';
import { atMost, compareSamples, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { interleave, median, now, pause } from '#bench/statistics.ts';

/** The time from an approval to the start of the step behind the gate, in round trips of a no-op activity. */
export async function approve({ service, bare, databaseUrl }: Stack): Promise<Result[]> {
  const workflow = await service.define('Gated', gated());
  const ours = async (): Promise<number> => {
    const runId = await service.trigger(workflow);
    await service.until(runId, 'paused');
    // People are slower: let the execution become idle.
    await pause(30);
    const clicked = now();
    await Promise.all([service.approve(runId), service.until(runId, 'ended')]);
    const [step] = await query<{ started_at: string }>(
      databaseUrl,
      `SELECT (extract(epoch FROM started_at) * 1000)::text AS started_at FROM steps
       WHERE run_id = $1 AND step_key = 'after'`,
      [runId],
    );
    return Number(step?.started_at) - clicked;
  };
  const baseline = async (): Promise<number> => {
    const startedAt = await bare.run(6);
    return median(startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? at)));
  };
  await ours();
  await baseline();
  const samples = await interleave({ count: 60, least: 20, budgetMs: 30_000 }, ours, baseline);
  return [
    compareSamples(samples, {
      measure: 'approve to next step started / one bare activity',
      unit: 'ms',
      bound: atMost(2),
      notes: [
        'from the request being sent to `started_at` of the step, both on the clock of this machine',
      ],
    }),
  ];
}
