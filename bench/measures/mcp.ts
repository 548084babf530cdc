import { chain } from '#bench/graphs.ts';
import { atMost, compareSamples, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, interleave, timed } from '#bench/statistics.ts';

/** Compares a trigger as a tool call with the same trigger as a request, over the same HTTP client. */
export async function mcp({ service }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools, as a tool', chain(3));
  // Each side ends its run before the other starts; only the response is timed.
  const timedTrigger = async (trigger: (id: string) => Promise<string>): Promise<number> => {
    let runId = '';
    const ms = await timed(async () => {
      runId = await trigger(workflow);
    });
    await service.until(runId, 'ended');
    return ms;
  };
  const asTool = () => timedTrigger(service.triggerAsTool);
  const asRequest = () => timedTrigger(service.trigger);
  await flood(10, 1, asTool);
  await flood(10, 1, asRequest);
  const samples = await interleave({ count: 150, least: 30, budgetMs: 30_000 }, asTool, asRequest);
  return [
    compareSamples(samples, {
      measure: 'run_workflow over MCP / trigger over HTTP',
      unit: 'ms',
      bound: atMost(1.5),
      notes: ["what a client's own library adds is not in it"],
    }),
  ];
}
