import autocannon from 'autocannon';
import { freePorts } from '#scripts/stack/ports.ts';
import { chain } from '#bench/graphs.ts';
import type { Processes } from '#bench/processes.ts';
import { atLeast, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median } from '#bench/statistics.ts';

const steps = 50;
const connections = 10;
const seconds = 3;
const rounds = 4;

/** Compares reading a run of fifty steps over HTTP with the same statement behind a minimal Fastify server. */
export async function read(stack: Stack, processes: Processes): Promise<Result[]> {
  const { service, apiUrl, environment } = stack;
  const workflow = await service.define('Fifty tools', chain(steps));
  const runIds: string[] = [];
  for (let run = 0; run < connections; run += 1) runIds.push(await service.run(workflow));
  const [runId = ''] = runIds;
  const [port = 0] = await freePorts(1);
  const server = await processes.startNode({
    name: 'bare-server',
    script: 'bench/bare/server.ts',
    env: { ...environment, API_PORT: String(port) },
  });
  const urls = {
    ours: `${apiUrl}/api/runs/${runId}`,
    row: `http://127.0.0.1:${port}/row/${runId}`,
    record: `http://127.0.0.1:${port}/record/${runId}`,
  };
  const rates = { ours: [] as number[], row: [] as number[], record: [] as number[] };
  const apart = { ours: [] as number[], row: [] as number[] };
  const urlsOf = (path: string) => runIds.map((id) => `${path}/${id}`);
  for (const url of Object.values(urls)) await fire(url, 1);
  for (let round = 0; round < rounds; round += 1) {
    rates.ours.push(await fire(urls.ours, seconds));
    rates.row.push(await fire(urls.row, seconds));
    rates.record.push(await fire(urls.record, seconds));
    apart.ours.push(await fire(urls.ours, seconds, urlsOf('/api/runs')));
    apart.row.push(await fire(urls.row, seconds, urlsOf('/row')));
  }
  await processes.stop(server);
  const perRound = (other: number[], ours = rates.ours): number =>
    median(ours.map((rate, round) => rate / (other[round] ?? Number.NaN)));
  return [
    compare({
      measure: `read a run of ${steps} steps / bare Fastify, same statement`,
      unit: 'requests/s',
      ours: figure(rates.ours),
      baseline: figure(rates.row),
      value: perRound(rates.row),
      bound: atLeast(0.7),
      notes: [
        `${connections} connections; the bare server sends the row as it comes from the database`,
        'those who read the same run at the same moment share a statement, which the bare server does not',
        `ten runs in turn, so that fewer are read at the same moment: ${Math.round(median(apart.ours))} and ${Math.round(median(apart.row))} requests/s, ratio ${perRound(apart.row, apart.ours).toFixed(2)}`,
        `when it also makes the run record of it: ${Math.round(median(rates.record))} requests/s, ratio ${perRound(rates.record).toFixed(2)}`,
      ],
    }),
  ];
}

/** Requests per second for one URL, or for `paths` of its server in rotation. */
async function fire(url: string, duration: number, paths: string[] = []): Promise<number> {
  const requests = paths.map((path) => ({ path }));
  const result = await autocannon({
    url,
    connections,
    duration,
    ...(paths.length > 0 && { requests }),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} answers and ${result.errors} connections failed at ${url}`);
  }
  return result.requests.total / result.duration;
}
