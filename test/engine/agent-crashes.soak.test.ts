import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readMessages } from '#shared/db/agents/messages.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { chain, type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { type ModelServer, startModelServer } from '#test/support/model-server.ts';
import type { Question, Said } from '#test/support/model-server-said.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';

/** At each point of the script, several runs are there at once. */
const RUNS = 2;

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
  const { promise: opened, resolve } = Promise.withResolvers<unknown>();
  gate = { opened, open: () => resolve(undefined) };
  tools = await startToolServer();
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
      OPENAI_API_KEY: 'sk-test-0123456789abcdef',
      OPENAI_BASE_URL: `${models.url}/v1`,
    },
  });
  worker = await startWorkerProcess(engine.env);
});
afterAll(async () => {
  gate.open();
  await worker?.kill();
  await engine.close();
  await models.close();
  await tools.close();
});
/** Each agent has the runs of one point. Its name is also the path of its tool and the beginning of its tickets. */
const define = (agent: string) => {
  const args = { url: `${tools.url}/${agent}`, method: 'POST' };
  const effect = { name: 'http_request', ['fixed']: args };
  return engine.define(
    chain({
      id: agent,
      kind: 'agent',
      prompt: 'Handle {ticket}',
      model: 'openai/gpt-5-mini',
      tools: [effect],
    }),
  );
};

const isAsked = (question: Question, turn: number): boolean =>
  question.turn === turn && ticketOf(question).startsWith(`asked_${turn}_`);

const TURNS = [1, 2, 3];
/** Runs that stop during the request of a turn, or during their first calls. */
const agents = [...TURNS.map((turn) => `asked_${turn}`), 'called'];

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

test('an agent whose worker is killed during a request or a call continues with the same conversation', async () => {
  tools.answer('called', { until: gate.opened });
  const started = agents.map(async (agent): Promise<Started[]> => {
    const workflowId = await define(agent);
    const tickets = Array.from({ length: RUNS }, (_, n) => `${agent}_${n}`);
    return Promise.all(
      tickets.map(async (ticket) => ({
        agent,
        ticket,
        runId: await engine.trigger(workflowId, { ticket }),
      })),
    );
  });
  const runs = (await Promise.all(started)).flat();
  const stopped = () =>
    models.asked().filter((question) => TURNS.some((turn) => isAsked(question, turn))).length +
    tools.calls('called').length / 2;
  await eventually(() => stopped() >= runs.length, 30_000);
  await worker?.kill();
  gate.open();
  worker = await startWorkerProcess(engine.env);
  await Promise.all(runs.map(check));
}, 180_000);
