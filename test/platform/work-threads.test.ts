import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  createWorkThreads,
  WorkBusyError,
  WorkLimitError,
  type WorkThreads,
  type WorkThreadLimits,
} from '#shared/platform/threads/threads.ts';
import { onMainThread } from '#test/support/main-thread.ts';
import { patiently } from '#test/support/patience.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';

const opened: WorkThreads[] = [];
// Limits of jobs are in processor time, which can take a while on a busy machine.
jest.setTimeout(180_000);
afterAll(() => Promise.all(opened.map((threads) => threads.close())));

function open(limits: Partial<WorkThreadLimits>): WorkThreads {
  const threads = createWorkThreads(limits);
  opened.push(threads);
  return threads;
}

/** A few lines whose check doubles with each of them: under a second at 18, practically endless at 40. */
const doubling = (lines: number): JsonObject => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: lines }, (_, n): [string, Json] => [
      `d${n}`,
      n === lines - 1
        ? { type: 'string' }
        : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  ),
});
const endless = { schema: doubling(40), args: { a: 1 } };
const quick = { expression: '1 + 1', scope: {} };

/** Runs `act` with a script that has the exports of the threads. */
async function withScript(text: string, act: (script: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'threads-'));
  const script = join(folder, 'jobs.mjs');
  const module = join(import.meta.dirname, '../../shared/platform/threads/threads.ts');
  try {
    const imports = `import { createWorkThreads, workThreads } from ${JSON.stringify(module)};`;
    await writeFile(script, imports + text);
    await act(script);
  } finally {
    await rm(folder, { recursive: true });
  }
}

soakTest('a job is not over its time because its process was suspended', async () => {
  const limits = { jobMs: 6_000, jobClockMs: 7_000 };
  const work = { schema: doubling(18), args: { a: 1 } };
  const jobs = `
    const threads = createWorkThreads(${JSON.stringify(limits)});
    await threads.run('ws_a', 'evaluate', ${JSON.stringify(quick)});
    console.log('started');
    await threads.run('ws_a', 'arguments', ${JSON.stringify(work)});
    console.log('done');
    await threads.close();`;
  await withScript(jobs, async (script) => {
    const child = spawn(process.execPath, [script]);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = once(child, 'exit');
    while (!said.includes('started') && child.exitCode === null) await pause(20);
    await pause(100);
    child.kill('SIGSTOP');
    await pause(limits.jobClockMs + 500);
    child.kill('SIGCONT');
    await ended;
    expect(said).toBe('started\ndone\n');
  });
});

soakTest('idle threads do not keep the process running', async () => {
  const jobs = `
    const run = () => workThreads.run('ws_a', 'evaluate', ${JSON.stringify(quick)});
    console.log(await Promise.all([run(), run(), run()]));`;
  await withScript(jobs, async (script) => {
    // Idle threads would end by themselves after a minute.
    const ended = promisify(execFile)(process.execPath, [script], { timeout: patiently(10_000) });
    expect((await ended).stdout).toBe('[ { value: 2 }, { value: 2 }, { value: 2 } ]\n');
  });
});

describe('a job that takes too long', () => {
  test('ends with an error, and the next job finds a thread', async () => {
    const threads = open({ jobMs: 300, threads: 1 });
    const job = threads.run('ws_a', 'arguments', endless);
    await expect(job).rejects.toThrow(WorkLimitError);
    await expect(job).rejects.toThrow('it takes more than 300 ms');
    expect(await threads.run('ws_a', 'evaluate', quick)).toEqual({ value: 2 });
  });

  soakTest('keeps the main thread free', async () => {
    const threads = open({ jobMs: 1_000, threads: 1 });
    await threads.run('ws_a', 'evaluate', quick);
    const { share } = await onMainThread(() =>
      expect(threads.run('ws_a', 'arguments', endless)).rejects.toThrow(WorkLimitError),
    );
    // The job works for a second; the thread of the tests does only a little work.
    expect(share).toBeLessThan(0.5);
  });

  soakTest('delays only its own workspace', async () => {
    const threads = open({ jobMs: 300, threads: 1 });
    const long = threads.run('ws_a', 'arguments', endless);
    const order: string[] = [];
    const next = ['ws_a', 'ws_b'].map(async (workspace) => {
      await threads.run(workspace, 'evaluate', quick);
      order.push(workspace);
    });
    await expect(long).rejects.toThrow(WorkLimitError);
    await Promise.all(next);
    expect(order).toEqual(['ws_b', 'ws_a']);
  });

  soakTest('names its current check or pattern', async () => {
    const threads = open({ jobMs: 200, threads: 1 });
    // Unordered, so that no two places look alike to the pattern.
    let seed = 1;
    const text = Array.from({ length: 200_000 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed > 1_073_741_824 ? 'a' : 'b';
    }).join('');
    const job = threads.run('ws_a', 'judge', {
      policies: JSON.stringify({
        model_allowlist: null,
        tools: [],
        redaction: {
          detectors: [],
          patterns: [
            { name: 'plain', regex: 'xyz' },
            { name: 'costly', regex: '(?i)(?:a[ab]{0,30}){0,7}c' },
          ],
        },
      }),
      step: {
        workflowId: 'wf',
        node: { id: 'n', kind: 'tool', tool_name: 'http_request', params: {} },
        params: { body: text },
        state: {},
      },
    });
    await expect(job).rejects.toMatchObject({ name: 'WorkLimitError', at: 'costly' });
  });
});

soakTest('a job that exceeds its memory ends only its own thread', async () => {
  const threads = open({ jobMs: 60_000, memoryMb: 64, threads: 1 });
  const job = threads.run('ws_a', 'answer', { schema: doubling(40), answer: 5 });
  await expect(job).rejects.toThrow('it takes more than 64 MB of memory');
  expect(await threads.run('ws_a', 'evaluate', quick)).toEqual({ value: 2 });
});

soakDescribe('jobs of multiple workspaces', () => {
  test('are scheduled fairly during a flood from one workspace', async () => {
    const threads = open({ jobMs: 400, threads: 2, waiting: 20 });
    await Promise.all(['ws_a', 'ws_b'].map((id) => threads.run(id, 'evaluate', quick)));
    const ended: string[] = [];
    const flood = Array.from({ length: 8 }, () =>
      threads
        .run('ws_a', 'arguments', endless)
        .catch(() => undefined)
        .then(() => ended.push('a')),
    );
    for (let n = 0; n < 5; n += 1) {
      await threads.run('ws_b', 'evaluate', quick);
      ended.push('b');
    }
    await Promise.all(flood);
    // The other workspace's first job waits only for the one in flight, and none of its jobs waits for all eight.
    expect(ended.indexOf('b')).toBeLessThanOrEqual(1);
    expect(ended.at(-1)).toBe('a');
  });

  test('are refused beyond the limit of their workspace only', async () => {
    // The first job of a thread may count as long.
    const threads = open({ jobMs: 400, threads: 2, waiting: 2, longJobMs: Infinity });
    await threads.run('ws_a', 'evaluate', quick);
    const flood = Array.from({ length: 6 }, () => threads.run('ws_a', 'arguments', endless));
    const refused = (await Promise.allSettled([
      ...flood,
      threads.run('ws_b', 'evaluate', quick),
    ])) as PromiseRejectedResult[];
    expect(refused.slice(0, 6).filter(({ reason }) => reason instanceof WorkBusyError).length).toBe(
      3,
    );
    expect(refused.at(-1)).toMatchObject({ status: 'fulfilled', value: { value: 2 } });
  });
});

test('an aborted job ends, running or queued', async () => {
  const threads = open({ jobMs: 60_000, threads: 1 });
  const gone = new AbortController();
  const { signal } = gone;
  const jobs = [1, 2].map(() => threads.run('ws_a', 'arguments', endless, { signal }));
  const last = threads.run('ws_a', 'evaluate', quick);
  setTimeout(() => gone.abort(new Error('gone')), 100);
  for (const job of jobs) await expect(job).rejects.toThrow('gone');
  expect(await last).toEqual({ value: 2 });
});
