import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { chain } from '../graphs.ts';
import { atMost, compareSamples, type Result } from '../result.ts';
import type { Stack } from '../stack.ts';
import { flood, interleave, timed } from '../statistics.ts';

/** What a trigger costs as a tool, against the same trigger as a request. */
export async function mcp({ service, apiUrl }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools, as a tool', chain(3));
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL('/api/mcp', apiUrl)));
  try {
    // Each side ends what it began before the other has its turn; only the answer is timed.
    const asTool = async (): Promise<number> => {
      let runId = '';
      const ms = await timed(async () => {
        const { structuredContent } = await client.callTool({
          name: 'run_workflow',
          arguments: { workflow },
        });
        runId = (structuredContent as { id: string }).id;
      });
      await service.until(runId, 'ended');
      return ms;
    };
    const asRequest = async (): Promise<number> => {
      let runId = '';
      const ms = await timed(async () => {
        runId = await service.trigger(workflow);
      });
      await service.until(runId, 'ended');
      return ms;
    };
    await flood(10, 1, asTool);
    await flood(10, 1, asRequest);
    const samples = await interleave(
      { count: 150, least: 30, budgetMs: 30_000 },
      asTool,
      asRequest,
    );
    return [
      compareSamples(samples, {
        measure: 'run_workflow over MCP / trigger over HTTP',
        unit: 'ms',
        bound: atMost(1.5),
        notes: ["the SDK's client on one side, a bare HTTP client on the other"],
      }),
    ];
  } finally {
    await client.close();
  }
}
