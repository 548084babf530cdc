import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { GraphReport } from '#shared/contract/workflows/graph.ts';
import type { Run, RunStatus } from '#shared/contract/runs/run.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { Workflow } from '#shared/contract/workflows/workflow.ts';
import { messageOf } from './stack/output.ts';
import { answerTickets, bookPayment, checks, mistaken } from './demo/graphs.ts';
import * as print from './demo/print.ts';
import { findApi } from './running-service.ts';
import {
  type Answer,
  call,
  exchange,
  type Method,
  type RequestContent,
  type Service,
} from './seed/api.ts';

/**
 * `npm run demo [-- --api <url>] [-- --token <session token>] [-- --keep]`: runs the tour of docs/tour.md against a
 * running service and prints every request and response. Exits with code 1 at the first unexpected result, so it also
 * checks an installation. Deletes what it created at the end, unless `--keep` is given.
 */
const PATIENCE_MS = 15_000;
const POLL_MS = 25;

interface Tour extends Service {
  workflowIds: string[];
}

class DemoFailure extends Error {
  override readonly name = 'DemoFailure';
}

function check(holds: boolean, text: string): asserts holds {
  if (!holds) {
    print.fails(text);
    throw new DemoFailure(`Not as it should be: ${text}`);
  }
  print.holds(text);
}

interface Sending extends RequestContent {
  /** The expected status; default: 200. */
  status?: number;
  /** The fields of the response to print; default: all. */
  show?: readonly string[];
}

async function send<T>(
  tour: Tour,
  method: Method,
  path: string,
  { status = 200, show, ...content }: Sending = {},
): Promise<Answer<T>> {
  print.request(method, path, content.headers ?? {});
  if (content.body !== undefined) print.json(content.body);
  const started = performance.now();
  const answer = await exchange<T>(tour, method, path, content);
  print.answer(answer.status, performance.now() - started);
  showBody(answer.body, answer.status === status ? show : undefined);
  if (answer.status === 401) {
    throw new DemoFailure(
      'The service needs a credential: sign in and give --token <session token>',
    );
  }
  if (answer.status !== status) throw new DemoFailure(`Expected ${status}, not ${answer.status}`);
  return answer;
}

function showBody(body: unknown, show: readonly string[] | undefined): void {
  if (body === undefined) return;
  if (show === undefined || typeof body !== 'object' || body === null) return print.json(body);
  const fields = Object.entries(body);
  const shown = fields.filter(([key]) => show.includes(key));
  print.json(Object.fromEntries(shown));
  console.log(`     and ${fields.length - shown.length} more fields`);
}

/** Polls the run until it has this status. Prints only the last response. */
async function until(
  tour: Tour,
  runId: string,
  status: RunStatus,
  show: readonly (keyof Run)[],
): Promise<Run> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { body } = await call<Run>(tour, 'GET', `/api/runs/${runId}`);
    const resting = body.status !== 'pending' && body.status !== 'running';
    if (resting || performance.now() > deadline) {
      const { body: run } = await send<Run>(tour, 'GET', `/api/runs/${runId}`, { show });
      check(run.status === status, `the run is ${status}`);
      return run;
    }
    await sleep(POLL_MS);
  }
}

interface FrameLog {
  frames: StreamFrame[];
  /** Waits for a frame of this type. An earlier one also counts. */
  next(type: StreamFrame['type']): Promise<void>;
  close(): Promise<void>;
}

async function follow({ apiUrl, token }: Tour, runId: string): Promise<FrameLog> {
  const url = `${apiUrl.replace(/^http/, 'ws')}/api/runs/${runId}/stream`;
  console.log(`\n   WS ${url}`);
  const socket = new WebSocket(token === undefined ? url : `${url}?token=${token}`);
  const frames: StreamFrame[] = [];
  socket.addEventListener('message', ({ data }) => {
    print.frame(String(data));
    frames.push(JSON.parse(String(data)) as StreamFrame);
  });
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => resolve());
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new DemoFailure('The stream did not open')));
  });
  return {
    frames,
    next: async (type) => {
      const deadline = performance.now() + PATIENCE_MS;
      while (!frames.some((frame) => frame.type === type)) {
        if (performance.now() > deadline) throw new DemoFailure(`No frame ${type} came`);
        await sleep(POLL_MS);
      }
    },
    close: async () => {
      socket.close();
      await closed;
    },
  };
}

const workflowFields = ['id', 'name', 'status', 'version'] as const;
const triggerFields = ['id', 'status', 'workflow_version'] as const;

async function create(tour: Tour, name: string, graph: unknown): Promise<string> {
  const { body } = await send<Workflow>(tour, 'POST', '/api/workflows', {
    body: { name, graph },
    status: 201,
    show: workflowFields,
  });
  tour.workflowIds.push(body.id);
  return `/api/workflows/${body.id}`;
}

async function draw(tour: Tour): Promise<string> {
  print.heading('1. Create a workflow. A draft may be wrong; validation says everything at once.');
  const workflow = await create(tour, 'Demo: answer tickets', mistaken);
  const { body: bad } = await send<GraphReport>(tour, 'POST', `${workflow}/validate`);
  check(!bad.valid && bad.errors.length >= 3, 'three mistakes are found together');
  await send(tour, 'POST', `${workflow}/runs`, { status: 400 });

  print.heading('2. Correct it: another graph is another version. Then publish it.');
  const { body: changed } = await send<Workflow>(tour, 'PUT', workflow, {
    body: { graph: answerTickets },
    show: workflowFields,
  });
  check(changed.version === 2, 'the workflow is at version 2');
  const { body: good } = await send<GraphReport>(tour, 'POST', `${workflow}/validate`);
  check(good.valid && good.warnings.length === 0, 'the graph is valid');
  await send(tour, 'PUT', `${workflow}/checks`, { body: checks, show: ['checks'] });
  await send(tour, 'POST', `${workflow}/publish`, { show: workflowFields });
  return workflow;
}

async function approve(tour: Tour, workflow: string): Promise<void> {
  print.heading('3. Run it, follow its frames. The same key twice is one run.');
  const trigger = {
    body: { ticket: 'I was charged twice' },
    headers: { 'idempotency-key': `demo-${Date.now()}` },
    show: triggerFields,
  };
  const { body: run } = await send<Run>(tour, 'POST', `${workflow}/runs`, {
    ...trigger,
    status: 201,
  });
  const stream = await follow(tour, run.id);
  const replay = await send<Run>(tour, 'POST', `${workflow}/runs`, trigger);
  check(replay.body.id === run.id, 'the second request is answered with the first run');
  check(replay.headers.get('idempotent-replayed') === 'true', 'and says so in its headers');
  await stream.next('run_paused');
  const paused = await until(tour, run.id, 'paused', ['status', 'pending_gate', 'state']);
  check(paused.pending_gate?.node_id === 'review', 'it waits at its gate');

  print.heading('4. Approve it. What the approver adds becomes part of the state.');
  const decision = { body: { approved: true, input: { note: 'Sorry!' } } };
  await send(tour, 'POST', `/api/runs/${run.id}/approve`, { ...decision, show: ['status'] });
  await send(tour, 'POST', `/api/runs/${run.id}/approve`, { ...decision, status: 409 });
  await stream.next('run_evaluated');
  await stream.close();
  const shown = ['status', 'output', 'cost_usd', 'duration_ms', 'waiting_ms', 'evals'] as const;
  const done = await until(tour, run.id, 'success', shown);
  const { send: sent } = done.output as { send: string };
  check(sent === 'About "I was charged twice": it is fixed. Sorry!', 'the answer is sent');
  check(done.evals?.passed === checks.length, 'every check has passed');
  const types = stream.frames.map((frame) => frame.type).join(' ');
  check(
    types.endsWith(
      'run_paused step_completed step_started step_completed run_completed run_evaluated',
    ),
    'the frames came in order',
  );
}

async function resume(tour: Tour): Promise<void> {
  print.heading('5. A step fails, and the run with it.');
  const workflow = await create(tour, 'Demo: book a payment', bookPayment);
  const { body: run } = await send<Run>(tour, 'POST', `${workflow}/runs`, {
    body: { gross: 120, fee: 20 },
    status: 201,
    show: triggerFields,
  });
  const stream = await follow(tour, run.id);
  const failed = await until(tour, run.id, 'failed', ['status', 'error', 'failure', 'resumable']);
  check(failed.error === "Node 'Book it' failed: Mock failure 1 of 1", 'the error names the node');

  print.heading('6. Resume it: only what had not completed is executed again.');
  await send(tour, 'POST', `/api/runs/${run.id}/resume`, { show: ['status', 'resumed_count'] });
  await stream.next('run_completed');
  await stream.close();
  const done = await until(tour, run.id, 'success', ['status', 'output', 'resumed_count', 'steps']);
  check((done.output as { book: string }).book === 'booked 100', 'the payment is booked');
  const attempts = done.steps.map((step) => `${step.step_key} ${step.attempt}`).join(', ');
  check(attempts === 'net 1, book 2', `each step was tried as often as needed: ${attempts}`);
  console.log(`\n   The same in the Temporal UI, as one history: ${done.temporal.url}`);
}

async function cleanUp(tour: Tour): Promise<void> {
  print.heading('7. Clean up: a workflow goes with its versions and runs.');
  for (const id of tour.workflowIds) {
    await send(tour, 'DELETE', `/api/workflows/${id}`, { status: 204 });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      api: { type: 'string' },
      token: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  });
  const tour: Tour = { apiUrl: findApi(values.api), token: values.token, workflowIds: [] };
  const started = performance.now();
  console.log(`The tour of docs/tour.md at ${tour.apiUrl}`);
  await approve(tour, await draw(tour));
  await resume(tour);
  if (!values.keep) await cleanUp(tour);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\nEverything was as it should be (${seconds} s).`);
}

try {
  await main();
} catch (error) {
  console.error(`\n${messageOf(error)}`);
  process.exitCode = 1;
}
