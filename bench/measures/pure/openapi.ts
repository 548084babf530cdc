import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { brotliDecompressSync } from 'node:zlib';
import { operationsUntrusted } from '#shared/platform/threads/documents.ts';
import { documentThreads } from '#shared/platform/threads/threads.ts';
import { atMost, compare, figure, type Result, single } from '#bench/result.ts';

const samples = 10;
const warmUp = 2;
const file = join(import.meta.dirname, '../../../test/fixtures/openapi/github.json.br');

/** The import of the largest document: GitHub's, 13 MB, the first 500 of its operations. In this process, no servers. */
export async function openapi(): Promise<Result[]> {
  const text = brotliDecompressSync(readFileSync(file)).toString('utf8');
  const times: number[] = [];
  const stalls = monitorEventLoopDelay({ resolution: 5 });
  try {
    for (let n = -warmUp; n < samples; n += 1) {
      if (n === 0) stalls.enable();
      const began = performance.now();
      await operationsUntrusted('ws_bench', text);
      if (n >= 0) times.push(performance.now() - began);
    }
  } finally {
    stalls.disable();
    await documentThreads.close();
  }
  return [
    compare({
      measure: 'import of an OpenAPI document of 13 MB, 500 operations',
      unit: 'ms',
      ours: figure(times),
      bound: { ...atMost(15_000), aim: 1_500 },
    }),
    compare({
      measure: 'longest stall of the main thread during that import',
      unit: 'ms',
      ours: single(stalls.max / 1e6),
      bound: { ...atMost(200), aim: 50 },
    }),
  ];
}
