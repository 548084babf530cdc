import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Client, type Run } from '#client/index.ts';
import { type Check, ownerOf } from './checks.ts';
import type { Deployment } from './deployment.ts';

// Executes docs/restore.md on the deployment: the commands of 'Restore the compose file' as they are on the page, and what
// 'Restore on Kubernetes' says, with services instead of pods.

const EACH = 4;
const STATE_MS = 120_000;
const END_SECONDS = 240;
/** Longer than a backup and a restore take, and shorter than `END_SECONDS`. */
const DELAY_SECONDS = 120;
const OUTSIDE = 'outside';
const OUTSIDE_PORT = 8080;

const step = (id: string, expression = '1') => ({
  ...{ id, kind: 'tool', tool_name: 'json_transform' },
  params: { expression },
});

/** The states in which runs are open, and the node that keeps them there. */
const middles = {
  gate: { id: 'middle', kind: 'human_gate' },
  delay: { id: 'middle', kind: 'tool', tool_name: 'delay', params: { seconds: DELAY_SECONDS } },
  retry: {
    ...{ id: 'middle', kind: 'tool', tool_name: 'http_request' },
    params: { url: `http://${OUTSIDE}:${OUTSIDE_PORT}/`, method: 'POST', body: {} },
    retry: { max_attempts: 100, initial_interval_seconds: 2, backoff: 1 },
  },
};
type State = keyof typeof middles;

interface OpenRun {
  id: string;
  state: State;
}

/** Where the outside is missing, calls of it fail and are repeated. It logs the key of each call. */
const outsideProgram = `require('node:http').createServer((request, response) => {
  console.log(request.headers['idempotency-key']);
  response.end('{}');
}).listen(${OUTSIDE_PORT})`;

/** The commands of the section, in the order of its blocks. */
function commandsOf(projectDir: string, project: string): { backup: string; restore: string } {
  const page = readFileSync(join(projectDir, 'docs/restore.md'), 'utf8');
  const [section = ''] = /^## Restore the compose file$[^]*?(?=^## )/m.exec(page) ?? [];
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) =>
    text.replaceAll('<project>', project),
  );
  assert.equal(blocks.length, 2, 'the section has a block for the backup and one for the restore');
  const [backup = '', restore = ''] = blocks;
  return { backup, restore };
}

/** Resolves when `holds` does. Throws with `what` if it takes too long. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + STATE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${STATE_MS / 1_000} s`);
    await sleep(500);
  }
}

async function defineWorkflows(client: Client): Promise<Record<State, string>> {
  const create = async (state: State): Promise<string> => {
    const nodes = [step('before'), middles[state], step('after')];
    const edges = [
      { source: 'before', target: 'middle' },
      { source: 'middle', target: 'after' },
    ];
    const graph = { nodes, edges } as never;
    return (await client.createWorkflow({ name: `Drill: ${state}`, graph })).id;
  };
  return { gate: await create('gate'), delay: await create('delay'), retry: await create('retry') };
}

/** Starts runs and waits until each is in its state. */
async function startRuns(client: Client, workflows: Record<State, string>): Promise<OpenRun[]> {
  const runs: OpenRun[] = [];
  for (const state of Object.keys(middles) as State[]) {
    for (let n = 0; n < EACH; n += 1) {
      runs.push({ id: (await client.triggerRun(workflows[state])).id, state });
    }
  }
  await until('every run is in its state', () => allHold(client, runs, isInState));
  return runs;
}

const middleOf = ({ steps }: Run) => steps.find(({ node_id }) => node_id === 'middle');

const isInState = (run: Run, state: State): boolean => {
  if (state === 'gate') return run.status === 'paused';
  const middle = middleOf(run);
  return run.status === 'running' && (middle?.attempt ?? 0) >= (state === 'retry' ? 2 : 1);
};

async function allHold(
  client: Client,
  runs: readonly OpenRun[],
  holds: (run: Run, state: State) => boolean,
): Promise<boolean> {
  const records = await Promise.all(runs.map(({ id }) => client.getRun(id)));
  return records.every((record, at) => holds(record, runs[at]!.state));
}

const gatesOf = (runs: readonly OpenRun[]): OpenRun[] =>
  runs.filter(({ state }) => state === 'gate');

/** The times of the step that had ended before the backup. Another execution would have others. */
async function firstSteps(client: Client, runs: readonly OpenRun[]): Promise<unknown[]> {
  const records = await Promise.all(runs.map(({ id }) => client.getRun(id)));
  return records.map(({ id, steps }) => {
    const before = steps.find(({ node_id }) => node_id === 'before');
    return { id, status: before?.status, at: before?.finished_at, attempt: before?.attempt };
  });
}

/** Decides the gates, lets the calls succeed, and requires that every run succeeds. Returns the keys of the calls. */
async function finish(
  { docker, project }: Deployment,
  client: Client,
  runs: readonly OpenRun[],
): Promise<string[]> {
  await until('every gate is open', () => allHold(client, gatesOf(runs), isInState));
  for (const { id } of gatesOf(runs)) await client.approve(id);
  const network = ['--network', `${project}_default`, '--network-alias', OUTSIDE];
  const name = `${project}-${OUTSIDE}`;
  const program = ['durable-workflows', 'node', '--eval', outsideProgram];
  await docker(['run', '--detach', '--rm', '--name', name, ...network, ...program]);
  try {
    const waiting = { timeout: END_SECONDS };
    const ended = await Promise.all(runs.map(({ id }) => client.waitForRun(id, waiting)));
    assert.deepEqual(
      ended.map(({ status, error }) => ({ status, error })),
      runs.map(() => ({ status: 'success', error: null })),
    );
    return (await docker(['logs', name])).trim().split('\n');
  } finally {
    await docker(['rm', '--force', name]);
  }
}

/** How many runs `runs:restart` has queued, by what it prints. */
const restartedIn = (output: string): number =>
  Number(/^Start the service: (\d+) open runs then continue/m.exec(output)?.[1]);

/** Each retried call was accepted once. */
function requireOneCallEach(keys: readonly string[], runs: readonly OpenRun[]): void {
  const ids = runs.filter(({ state }) => state === 'retry').map(({ id }) => id);
  assert.deepEqual(keys.map((key) => key.split(':')[0]).sort(), ids.sort());
}

/** A backup, a time in which the service continues, and a restore from nothing. Returns the figures. */
export async function checkRestore(
  deployment: Deployment,
  projectDir: string,
  check: Check,
): Promise<object> {
  const { url, shell, inside, project, ready } = deployment;
  const { backup, restore } = commandsOf(projectDir, project);
  let client = await ownerOf(url);
  const workflows = await defineWorkflows(client);
  const runs = await startRuns(client, workflows);
  const steps = await firstSteps(client, runs);
  const figures = { openRuns: runs.length, backupSeconds: 0, backupMB: 0, restoreSeconds: 0 };
  let late = '';

  await check('the commands of docs/restore.md back up a compose project that runs', async () => {
    const started = performance.now();
    await shell(backup);
    figures.backupSeconds = (performance.now() - started) / 1_000;
    figures.backupMB = Number(await shell('wc -c < backup.tar')) / 1e6;
    assert.ok(await allHold(client, runs, isInState), 'a run ended before the backup did');
    // The service continues: the restore loses these decisions and this run.
    for (const { id } of gatesOf(runs).slice(0, EACH / 2)) {
      await client.approve(id);
      assert.equal((await client.waitForRun(id)).status, 'success');
    }
    late = (await client.triggerRun(workflows.gate)).id;
  });
  await check('its commands stop at a damaged backup, and remove nothing', async () => {
    await shell('cp backup.tar whole.tar && echo damaged >> backup.tar');
    await assert.rejects(shell(restore), /did NOT match/);
    await shell('mv whole.tar backup.tar');
    assert.equal((await client.getRun(late)).id, late);
  });
  await check('its commands restore the project from nothing', async () => {
    const started = performance.now();
    const output = await shell(restore);
    await ready();
    figures.restoreSeconds = (performance.now() - started) / 1_000;
    assert.equal(restartedIn(output), runs.length);
    assert.match(output, /: whole, /);
    assert.doesNotMatch(output, /broken/);
  });
  await check('a run that was triggered after the backup is unknown', async () => {
    client = await ownerOf(url);
    const unknown = (error: unknown) => error instanceof ApiError && error.status === 404;
    await assert.rejects(client.getRun(late), unknown);
  });
  await check(
    'every run that was open continues after the restore, and repeats no step',
    async () => {
      requireOneCallEach(await finish(deployment, client, runs), runs);
      assert.deepEqual(await firstSteps(client, runs), steps);
    },
  );
  await check('no execution is left without an open run after the restore', async () => {
    const admin = ['docker/entrypoint.sh', 'admin'];
    assert.match(await inside('api', [...admin, 'runs:reconcile']), /^0 executions without/m);
    assert.match(await inside('api', [...admin, 'audit:verify']), /: whole, /);
  });
  return figures;
}

/** With the API and the workers scaled to 0: `runs:restart` beside another session, and with an empty Temporal. */
export async function checkEmptyTemporal(deployment: Deployment, check: Check): Promise<void> {
  const { url, compose, ready, inside } = deployment;
  let client = await ownerOf(url);
  const runs = await startRuns(client, await defineWorkflows(client));
  const steps = await firstSteps(client, runs);
  const query = (text: string) =>
    inside('postgres', ['psql', '--username', 'workflows', '--tuples-only', '--command', text]);
  const restart = () => compose(['run', '--rm', '--no-deps', 'api', 'admin', 'runs:restart']);
  await compose(['stop', 'api', 'worker']);

  await check('runs:restart refuses while another session uses the database', async () => {
    const sleeping = "FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(%'";
    const session = query('SELECT pg_sleep(600)').catch(() => undefined);
    await until('the session is there', async () => {
      return Number(await query(`SELECT count(*) ${sleeping}`)) === 1;
    });
    await assert.rejects(restart(), /1 other sessions use the database/);
    await query(`SELECT pg_terminate_backend(pid) ${sleeping}`);
    await session;
  });
  await check('open runs continue with an empty Temporal, and repeat no step', async () => {
    await compose(['stop', 'temporal', 'temporal-ui']);
    for (const database of ['temporal', 'temporal_visibility']) {
      await query(`DROP DATABASE ${database}`);
      await query(`CREATE DATABASE ${database} OWNER temporal`);
    }
    await compose(['up', '--detach', '--wait', 'temporal']);
    await compose(['run', '--rm', '--no-deps', 'temporal-namespace']);
    await compose(['run', '--rm', '--no-deps', 'migrate']);
    assert.equal(restartedIn(await restart()), runs.length);
    // It can be run again.
    assert.equal(restartedIn(await restart()), runs.length);
    await compose(['up', '--detach', '--no-build']);
    await ready();
    client = await ownerOf(url);
    requireOneCallEach(await finish(deployment, client, runs), runs);
    assert.deepEqual(await firstSteps(client, runs), steps);
    assert.match(
      await inside('api', ['docker/entrypoint.sh', 'admin', 'audit:verify']),
      /: whole, /,
    );
  });
}
