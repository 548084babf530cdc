import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readMessages } from '#shared/db/agents/messages.ts';
import { sql } from '#shared/db/pool.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { type ModelServer, startModelServer } from '#test/support/model-server.ts';
import type { Question, Said } from '#test/support/model-server-said.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { stopBefore } from '#test/support/stop-before.ts';

/**
 * A script of three turns and four calls. The worker is killed at each point of it, with several runs there at once.
 * `AGENT_CRASH_RUNS=10` makes it ten; more would need more connections than the database has.
 */
const RUNS = Number(process.env['AGENT_CRASH_RUNS'] ?? 2);

let engine: Engine;
let models: ModelServer;
let tools: ToolServer;
let worker: TestProcess | undefined;
/** Requests at which runs stop wait for it. */
let gate: { opened: Promise<unknown>; open: () => void };

const call = (n: number) => ({ name: 'http_request', arguments: { body: { n } } });
const script: Said[] = [
  { calls: [call(1), call(2)] },
  { text: 'Two more.', calls: [call(3), call(4)] },
  { text: 'Done.' },
];

const ticketOf = ({ body }: Question): string =>
  /Handle (\w+)/.exec(JSON.stringify(body))?.[1] ?? '';

beforeAll(async () => {
  models = await startModelServer((question) => ({
    ...script[question.turn - 1]!,
    pause: async () => {
      if (isAsked(question, question.turn)) await gate.opened;
    },
  }));
  engine = await startEngine({
    worker: false,
    env: {
      // A worker that is only slow must not count as dead.
      HEARTBEAT_TIMEOUT_SECONDS: '6',
      // Each run that stops in a transaction keeps a connection.
      DATABASE_POOL_SIZE: String(20 + RUNS * Object.keys(steps).length),
      OPENAI_API_KEY: 'sk-test-0123456789abcdef',
      OPENAI_BASE_URL: `${models.url}/v1`,
    },
  });
  worker = await startWorkerProcess(engine.env);
});
afterAll(async () => {
  await worker?.kill();
  await engine.close();
  await models.close();
});
beforeEach(async () => {
  tools = await startToolServer();
  const { promise: opened, resolve } = Promise.withResolvers<unknown>();
  gate = { opened, open: () => resolve(undefined) };
});
afterEach(async () => {
  gate.open();
  await tools.close();
});

/** Each agent has the runs of one point. Its name is also the path of its tool and the beginning of its tickets. */
const define = (agent: string) => {
  const args = { url: `${tools.url}/${agent}`, method: 'POST' };
  const effect = { name: 'http_request', ['fixed']: args };
  return engine.define({
    nodes: [
      {
        id: agent,
        kind: 'agent',
        prompt: 'Handle {ticket}',
        model: 'openai/gpt-5-mini',
        tools: [effect],
      },
    ],
    edges: [],
  });
};

interface Moment {
  agents: string[];
  /** Makes the runs stop there. Returns how many are there, and a function that lets everything continue. */
  arm: () => Promise<{ there: () => Promise<number>; release: () => Promise<void> }>;
}

const isAsked = (question: Question, turn: number): boolean =>
  question.turn === turn && ticketOf(question).startsWith(`asked_${turn}_`);

const TURNS = [1, 2, 3];

/** During the request of each turn, and during the first calls. */
const requests: Moment = {
  agents: [...TURNS.map((turn) => `asked_${turn}`), 'called'],
  arm: async () => {
    tools.answer('called', { until: gate.opened });
    const asked = () =>
      models.asked().filter((question) => TURNS.some((turn) => isAsked(question, turn)));
    return {
      there: async () => asked().length + tools.calls('called').length / 2,
      release: async () => gate.open(),
    };
  },
};

/** The step at which an agent's runs stop. */
const steps = { turn_1: '1', turn_2: '2', turn_3: '3', call_1_1: '1.1', call_2_2: '2.2' };

const waiting = sql.type(z.object({ pid: z.number() }))`
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;

/** In transactions that begin or end a step. `lost`: they are rolled back; otherwise only their responses are lost. */
const writing = (change: 'begin' | 'end', { lost }: { lost: boolean }): Moment => ({
  agents: Object.keys(steps),
  arm: async () => {
    const keys = Object.entries(steps).map(([agent, step]) => sql.literalValue(`${agent}/${step}`));
    const isOne = sql.fragment`NEW.step_key IN (${sql.join(keys, sql.fragment`, `)})`;
    const stop = await stopBefore(engine.db, {
      change: change === 'begin' ? sql.fragment`INSERT` : sql.fragment`UPDATE`,
      table: 'steps',
      when: change === 'begin' ? isOne : sql.fragment`${isOne} AND NEW.status = 'success'`,
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

const moments: [string, Moment][] = [
  ['the requests of each turn and the first calls are made', requests],
  ['each turn and a call of both turns begin', writing('begin', { lost: true })],
  ['each turn and a call of both turns are being recorded', writing('end', { lost: true })],
  ['each turn and a call of both turns are recorded', writing('end', { lost: false })],
];

interface Started {
  agent: string;
  ticket: string;
  runId: string;
}

async function check({ agent, ticket, runId }: Started): Promise<void> {
  const run = await engine.until(runId, ['success', 'failed'], 60_000);
  expect([agent, run.status, run.error]).toEqual([agent, 'success', null]);
  expect(run.state).toEqual({ ticket, [agent]: 'Done.' });
  const scope = { workspaceId: engine.actor.workspaceId, runId, agentKey: agent };
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
    .calls(agent)
    .map((seen) => String(seen.headers['idempotency-key']))
    .filter((key) => key.startsWith(runId));
  expect(new Set(keys).size).toBe(4);
  const turnCosts = run.steps.filter((step) => step.turn !== undefined && step.kind === 'agent');
  expect(new Set(turnCosts.map((step) => step.cost_usd)).size).toBe(1);
  expect(run.cost_usd).toBeCloseTo(3 * (turnCosts[0]?.cost_usd ?? NaN), 6);
}

describe('an agent whose worker is killed', () => {
  test.each(moments)(
    'while %s continues with the same conversation',
    async (_name, { agents, arm }) => {
      const armed = await arm();
      const started = agents.map(async (agent): Promise<Started[]> => {
        const workflowId = await define(agent);
        const tickets = Array.from({ length: RUNS }, (_, n) => `${agent}_${Date.now()}_${n}`);
        return Promise.all(
          tickets.map(async (ticket) => ({
            agent,
            ticket,
            runId: await engine.trigger(workflowId, { ticket }),
          })),
        );
      });
      const runs = (await Promise.all(started)).flat();
      await eventually(async () => (await armed.there()) >= runs.length, 30_000);
      await worker?.kill();
      await armed.release();
      worker = await startWorkerProcess(engine.env);
      await Promise.all(runs.map(check));
    },
    180_000,
  );
});
