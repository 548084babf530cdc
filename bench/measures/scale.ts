import { chain, fanOut } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median, timed } from '#bench/statistics.ts';

const nodes = 1_000;
const fewNodes = 10;
const turns = 3;
/** Before and after each long run: it lasts long enough for the machine's load to change. */
const shortRuns = 6;
const runTimeoutMs = 120_000;

/** Compares the cost per node in a graph of a thousand nodes with the cost in a short chain. */
export async function scale({ service, bare }: Stack): Promise<Result[]> {
  const short = await service.define('Ten tools', chain(fewNodes));
  const shapes = [
    { name: 'chain', workflow: await service.define('Long chain', chain(nodes)) },
    { name: 'fan-out', workflow: await service.define('Wide fan-out', fanOut(nodes)) },
  ];
  const perNodeShort: number[] = [];
  const runShort = async (): Promise<number[]> => {
    const perNode: number[] = [];
    for (let run = 0; run < shortRuns; run += 1) {
      perNode.push((await timed(() => service.run(short))) / fewNodes);
    }
    perNodeShort.push(...perNode);
    return perNode;
  };
  const measured = shapes.map((shape) => ({
    ...shape,
    perNode: [] as number[],
    ratios: [] as number[],
    events: [] as number[],
  }));
  await service.run(short);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const shape of measured) {
      const before = await runShort();
      const started = performance.now();
      const runId = await service.trigger(shape.workflow);
      await service.until(runId, 'ended', runTimeoutMs);
      const perNode = (performance.now() - started) / nodes;
      const after = await runShort();
      shape.perNode.push(perNode);
      shape.ratios.push(perNode / median([...before, ...after]));
      shape.events.push(await service.historyEvents(runId));
    }
  }
  const bareLong = (await timed(() => bare.run(nodes))) / nodes;
  const bareShort = (await timed(() => bare.run(fewNodes))) / fewNodes;
  const note = `bare activities: ${bareLong.toFixed(1)} ms each of ${nodes}, ${bareShort.toFixed(1)} ms each of ${fewNodes}`;
  return report(measured, perNodeShort, note);
}

interface Measured {
  name: string;
  perNode: number[];
  ratios: number[];
  events: number[];
}

function report(measured: readonly Measured[], perNodeShort: number[], note: string): Result[] {
  return [
    ...measured.map(({ name, perNode, ratios }) =>
      compare({
        measure: `time per node, ${nodes}-node ${name} / ${fewNodes}-node chain`,
        unit: 'ms',
        ours: { median: median(perNode), samples: perNode.length },
        baseline: figure(perNodeShort),
        value: median(ratios),
        bound: atMost(1.5),
        notes: name === 'chain' ? [note] : [],
      }),
    ),
    ...measured.map(({ name, events }) =>
      compare({
        measure: `history events of the ${name} / (6 n + 20)`,
        unit: 'events',
        ours: { median: Math.max(...events), samples: events.length },
        baseline: single(6 * nodes + 20),
        bound: atMost(1),
      }),
    ),
  ];
}
