import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readMessages } from '../../shared/db/agents/messages.ts';
import { sql } from '../../shared/db/pool.ts';
import { startToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { type Engine, eventually, startEngine } from '../support/engine.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import type { Question, Said } from '../support/model-server-said.ts';
import { startWorkerProcess, type TestProcess } from '../support/processes.ts';
import { stopBefore } from '../support/stop-before.ts';

/**
 * A script of three turns and four calls. The worker is killed at each point of it, with several runs there at once.
 * `AGENT_CRASH_RUNS=10` makes it ten; more would need more connections than a worker has.
 */
const RUNS = Number(process.env['AGENT_CRASH_RUNS'] ?? 2);

let engine: Engine;
let models: ModelServer;
let tools: ToolServer;
const workers: TestProcess[] = [];
/** Requests to models and tools wait for it. */
let gate: { where: string; opened: Promise<void>; open: () => void } | undefined;

const call = (n: number) => ({ name: 'http_request', arguments: { body: { n } } });
const script: Said[] = [
  { calls: [call(1), call(2)] },
  { text: 'Two more.', calls: [call(3), call(4)] },
  { text: 'Done.' },
];

beforeAll(async () => {
  models = await startModelServer(({ turn }) => ({
    ...script[turn - 1]!,
    pause: () => held(`turn ${turn}`),
  }));
  engine = await startEngine({
    worker: false,
    env: {
      // A worker that is only slow must not count as dead.
      HEARTBEAT_TIMEOUT_SECONDS: '6',
      DATABASE_POOL_SIZE: '30',
      OPENAI_API_KEY: 'sk-test-0123456789abcdef',
      OPENAI_BASE_URL: `${models.url}/v1`,
    },
  });
});
afterAll(async () => {
  await engine.close();
  await models.close();
});
beforeEach(async () => {
  tools = await startToolServer();
});
afterEach(async () => {
  gate?.open();
  gate = undefined;
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await tools.close();
});

const held = async (where: string): Promise<void> => {
  if (gate?.where === where) await gate.opened;
};

function hold(where: string): void {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { where, opened, open };
  if (where === 'tool') tools.answer('effect', { until: opened });
}

async function startWorker(): Promise<TestProcess> {
  const worker = await startWorkerProcess(engine.env);
  workers.push(worker);
  return worker;
}

const define = () => {
  const args = { url: `${tools.url}/effect`, method: 'POST' };
  const effect = { name: 'http_request', ['fixed']: args };
  return engine.define({
    nodes: [
      {
        id: 'triage',
        kind: 'agent',
        prompt: 'Handle {ticket}',
        model: 'openai/gpt-5-mini',
        tools: [effect],
      },
    ],
    edges: [],
  });
};

interface Point {
  /** Makes the runs stop there. Returns how many are there, and a function that lets everything continue. */
  arm: () => Promise<{ there: () => Promise<number>; release: () => Promise<void> }>;
}

const asked = (turn: number): Point => ({
  arm: async () => {
    hold(`turn ${turn}`);
    const before = models.asked().filter((question) => question.turn === turn).length;
    return {
      there: async () =>
        models.asked().filter((question) => question.turn === turn).length - before,
      release: async () => gate?.open(),
    };
  },
});

const called: Point = {
  arm: async () => {
    hold('tool');
    return {
      there: async () => tools.calls('effect').length / 2,
      release: async () => gate?.open(),
    };
  },
};

const waiting = sql.type(z.object({ pid: z.number() }))`
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;

/** In the transaction that begins or ends a step. `lost`: it is rolled back; otherwise only its response is lost. */
const writing = (
  stepKey: string,
  change: 'begins' | 'ends',
  { lost }: { lost: boolean },
): Point => ({
  arm: async () => {
    const stop = await stopBefore(engine.db, {
      change: change === 'begins' ? sql.fragment`INSERT` : sql.fragment`UPDATE`,
      table: 'steps',
      when:
        change === 'begins'
          ? sql.fragment`NEW.step_key = ${sql.literalValue(stepKey)}`
          : sql.fragment`NEW.step_key = ${sql.literalValue(stepKey)} AND NEW.status = 'success'`,
    });
    return {
      there: async () => (await engine.db.any(waiting)).length,
      release: async () => {
        if (lost) {
          await engine.db.query(sql.type(z.object({}))`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'advisory'`);
          await eventually(async () => (await engine.db.any(waiting)).length === 0);
        }
        await stop.release();
      },
    };
  },
});

const points: Record<string, Point> = {
  ...Object.fromEntries(
    [1, 2, 3].flatMap((turn) => {
      const key = `triage/${turn}`;
      return [
        [`turn ${turn} begins`, writing(key, 'begins', { lost: true })],
        [`turn ${turn} is asked`, asked(turn)],
        [`turn ${turn} is being recorded`, writing(key, 'ends', { lost: true })],
        [`turn ${turn} is recorded`, writing(key, 'ends', { lost: false })],
      ] as const;
    }),
  ),
  'the first calls are made': called,
  ...Object.fromEntries(
    ['1.1', '2.2'].flatMap((call) => {
      const key = `triage/${call}`;
      return [
        [`call ${call} begins`, writing(key, 'begins', { lost: true })],
        [`call ${call} is being recorded`, writing(key, 'ends', { lost: true })],
        [`call ${call} is recorded`, writing(key, 'ends', { lost: false })],
      ] as const;
    }),
  ),
};

const ticketOf = ({ body }: Question): string =>
  /Handle (\w+)/.exec(JSON.stringify(body))?.[1] ?? '';

async function check(runId: string, ticket: string): Promise<void> {
  const run = await engine.until(runId, ['success', 'failed'], 60_000);
  expect([run.status, run.error]).toEqual(['success', null]);
  expect(run.state).toEqual({ ticket, triage: 'Done.' });
  const scope = { workspaceId: engine.actor.workspaceId, runId, agentKey: 'triage' };
  const messages = (await readMessages(engine.db, scope)) ?? [];
  expect(messages.map((message) => message.role)).toEqual([
    'user',
    ...['assistant', 'tool', 'tool'],
    ...['assistant', 'tool', 'tool'],
    'assistant',
  ]);
  expect(
    messages.flatMap((message) => (message.role === 'tool' ? [message.is_error] : [])),
  ).toEqual([false, false, false, false]);
  // A turn may be asked once more for the kill.
  const turns = models.asked().filter((question) => ticketOf(question) === ticket);
  for (const turn of [1, 2, 3]) {
    const times = turns.filter((question) => question.turn === turn).length;
    expect([1, 2]).toContain(times);
  }
  expect(turns.length).toBeLessThanOrEqual(4);
  // Every call was made with one key, so a receiver that knows keys has four effects.
  const keys = tools
    .calls('effect')
    .map((seen) => String(seen.headers['idempotency-key']))
    .filter((key) => key.startsWith(runId));
  expect(new Set(keys).size).toBe(4);
  const turnCosts = run.steps.filter((step) => step.turn !== undefined && step.kind === 'agent');
  expect(new Set(turnCosts.map((step) => step.cost_usd)).size).toBe(1);
  expect(run.cost_usd).toBeCloseTo(3 * (turnCosts[0]?.cost_usd ?? NaN), 6);
}

describe('an agent whose worker is killed', () => {
  test.each(Object.keys(points))(
    'while %s continues with the same conversation',
    async (name) => {
      const first = await startWorker();
      const workflowId = await define();
      const armed = await points[name]!.arm();
      const tickets = Array.from({ length: RUNS }, (_, n) => `t${Date.now()}x${n}`);
      const runs = await Promise.all(
        tickets.map(async (ticket) => ({
          ticket,
          runId: await engine.trigger(workflowId, { ticket }),
        })),
      );
      await eventually(async () => (await armed.there()) >= RUNS, 30_000);
      await first.kill();
      await armed.release();
      await startWorker();
      await Promise.all(runs.map(({ runId, ticket }) => check(runId, ticket)));
    },
    180_000,
  );
});
