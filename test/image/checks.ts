import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '#client/index.ts';
import { startLoad } from '#test/cluster/load.ts';
import { type Deployment, PASSWORD } from './deployment.ts';
import { sampleGraph } from '#test/support/image.ts';

/** A finding by its title; throws if it does not hold. */
export type Check = (title: string, work: () => Promise<unknown>) => Promise<void>;

const RUN_SECONDS = 60;
const TRIGGERS = 200;
/** Load between two restarts, in ms. */
const CALM_MS = 5_000;
/** The time for runs in flight to end after the load. */
const SETTLE_MS = 180_000;
const OWNER = 'owner@localhost';

const admin = ({ inside }: Deployment, command: string[], env?: Record<string, string>) =>
  inside('api', ['docker/entrypoint.sh', 'admin', ...command], env);

async function signIn(url: string, email: string, password: string): Promise<string> {
  const { token } = await createClient({ baseUrl: url }).login(email, password);
  return token;
}

/** A client with a session of the owner. */
export const ownerOf = async (url: string): Promise<Client> =>
  createClient({ baseUrl: url, token: await signIn(url, OWNER, PASSWORD) });

async function executeRun(client: Client): Promise<string> {
  const { id: workflowId } = await client.createWorkflow({ name: 'Answer', graph: sampleGraph });
  const waiting = { wait: true, timeout: RUN_SECONDS };
  const { id, status } = await client.run(workflowId, { ticket: 'the invoice' }, waiting);
  assert.equal(status, 'success');
  return id;
}

/** Only creates the containers. */
export async function checkOwnServers({ compose }: Deployment, check: Check): Promise<void> {
  await check('with servers of your own, no container of Postgres and Temporal', async () => {
    await compose(['create', '--no-build'], {
      DATABASE_URL: 'postgres://service@postgres.example/workflows',
      POSTGRES_CONTAINERS: '0',
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_CONTAINERS: '0',
    });
    const created = await compose(['ps', '--all', '--format', '{{.Service}}']);
    await compose(['down']);
    assert.deepEqual(created.trim().split('\n').sort(), ['api', 'migrate', 'worker']);
  });
}

/** Checks a deployment that has just started. Returns the id of a run. */
export async function checkDeployment(deployment: Deployment, check: Check): Promise<string> {
  const { url, inside, compose } = deployment;
  let runId = '';
  await check('requests without a credential are refused', async () => {
    assert.equal((await fetch(`${url}/api/workflows`)).status, 401);
  });
  await check('the owner signs in, and a run succeeds', async () => {
    runId = await executeRun(await ownerOf(url));
  });
  await check('a run is followed as server-sent events to its end', async () => {
    const { token } = await (await ownerOf(url)).createStreamToken(runId);
    const types: string[] = [];
    const follower = createClient({ baseUrl: url, token });
    for await (const { frame } of follower.followRun(runId, { after: 0 })) types.push(frame.type);
    assert.equal(types.at(-1), 'run_completed');
  });
  for (const service of ['api', 'worker']) {
    await check(
      `the ${service} has a read-only root, no capabilities and no root user`,
      async () => {
        const denied = await inside(service, ['sh', '-c', '! touch /app/written 2>&1']);
        assert.match(denied, /Read-only file system/);
        const status = await inside(service, ['cat', '/proc/self/status']);
        assert.match(status, /^CapBnd:\s*0+$/m);
        assert.match(status, /^CapEff:\s*0+$/m);
        assert.match(status, /^NoNewPrivs:\s*1$/m);
        assert.doesNotMatch(status, /^Uid:\s*0\b/m);
      },
    );
  }
  await check('only loopback is published, and no database', async () => {
    const published = (await compose(['ps', '--format', '{{.Service}} {{.Ports}}'])).split('\n');
    const open = published.filter((line) => line.includes('->'));
    assert.deepEqual(open.map((line) => line.split(' ')[0]).sort(), ['api', 'temporal-ui']);
    assert.ok(open.every((line) => line.includes(' 127.0.0.1:')));
  });
  return runId;
}

/** Each kind of document that the image serves, without a credential: its content type, and what it contains. */
const documents: [path: string, type: string, content: RegExp][] = [
  ['/docs/guide/', 'text/html', /data-search="/],
  ['/docs/guide/restore', 'text/html', /aria-current="page">Backup and restore</],
  ['/docs/guide/approvals.md', 'text/markdown', /^# Approvals/],
  ['/docs/guide/skill/SKILL.md', 'text/markdown', /^---\nname: durable-workflows\n/],
  ['/llms.txt', 'text/plain', /\/docs\/guide\/skill\/SKILL\.md\)/],
  ['/docs/', 'text/html', /API reference/],
  ['/docs', 'text/html', /API reference/],
  ['/api/openapi.json', 'application/json', /"openapi":/],
  ['/schemas/workflow.json', 'application/schema+json', /"nodes"/],
];

/** The documentation in the image. */
export async function checkGuide({ url }: Deployment, check: Check): Promise<void> {
  const read = async (path: string): Promise<{ type: string; text: string }> => {
    const answer = await fetch(`${url}${path}`);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return { type: answer.headers.get('content-type') ?? '', text };
  };
  for (const [path, expected, content] of documents) {
    await check(`${path} is served as ${expected}`, async () => {
      const { type, text } = await read(path);
      assert.equal(type.replace(/;.*/, ''), expected);
      assert.match(text, content);
    });
  }
  await check(
    'the scripts, the style sheet and the search index of the guide are there',
    async () => {
      const { text: page } = await read('/docs/guide/');
      const assets = [...page.matchAll(/"(\/docs\/guide\/assets\/[^"]+)"/g)].map(
        ([, path = '']) => path,
      );
      const index = assets.find((path) => path.endsWith('.json')) ?? '';
      for (const path of new Set(assets)) await read(path);
      const { type, text } = await read(index);
      assert.match(type, /^application\/json\b/);
      assert.match(text, /approvals/);
    },
  );
}

/** Each command of operators, in the container of the API. */
export async function checkAdmin(
  deployment: Deployment,
  projectDir: string,
  check: Check,
): Promise<void> {
  const { url, compose } = deployment;
  const made = ['--name', 'Two', '--owner-email', 'two@example.com', '--json'];
  const two = { email: 'two@example.com', password: '' };
  const tried: Record<string, () => Promise<unknown>> = {
    'audit:verify': async () => {
      assert.match(await admin(deployment, ['audit:verify']), /: whole, /);
      // In a container of its own.
      assert.match(await compose(['run', '--rm', 'api', 'admin', 'audit:verify']), /: whole, /);
    },
    'config:check': async () => {
      const printed = await admin(deployment, ['config:check']);
      assert.match(printed, /^SECRET_KEY +\*{3} +environment$/m);
      assert.match(printed, /^The configuration is valid$/m);
    },
    'owner:restore': async () =>
      assert.match(await admin(deployment, ['owner:restore']), /owner@localhost owns workspace/),
    'runs:reconcile': async () =>
      assert.match(await admin(deployment, ['runs:reconcile']), /^0 executions without/m),
    'runs:restart': async () =>
      assert.rejects(admin(deployment, ['runs:restart']), /other sessions use the database/),
    'secrets:rotate': async () =>
      assert.match(await admin(deployment, ['secrets:rotate']), / 0 unreadable/),
    'workspace:create': async () => {
      const { password } = JSON.parse(await admin(deployment, ['workspace:create', ...made]));
      await signIn(url, two.email, password);
    },
    'password:reset': async () => {
      const output = await admin(deployment, ['password:reset', '--email', two.email]);
      two.password = /is now: (\S+)/.exec(output)?.[1] ?? '';
      await signIn(url, two.email, two.password);
    },
    'upgrade:to-1.0': async () => {
      assert.match(await admin(deployment, ['upgrade:to-1.0']), /at 1\.0\.0 already/);
    },
    ops: async () => {
      const token = await signIn(url, two.email, two.password);
      assert.match(await admin(deployment, ['ops', 'whoami'], { OPS_TOKEN: token }), /two@example/);
    },
  };
  for (const [command, work] of Object.entries(tried)) await check(`admin ${command}`, work);
  await check('every command of operators was tried', async () => {
    const { scripts } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = Object.keys(scripts).filter((name) =>
      scripts[name]?.startsWith('node scripts/admin/'),
    );
    assert.deepEqual(Object.keys(tried).sort(), [...commands, 'ops'].sort());
  });
}

/** Triggers runs at a fixed rate while each server and process restarts. Returns the figures. */
export async function checkRestarts(deployment: Deployment, check: Check): Promise<object> {
  const { url, compose, ready, inside } = deployment;
  const token = await signIn(url, OWNER, PASSWORD);
  const load = await startLoad({ baseUrl: url, token, timeout: 180 }, TRIGGERS);
  const restarts: Record<string, number> = {};
  for (const service of ['postgres', 'temporal', 'api', 'worker']) {
    await sleep(CALM_MS);
    const started = performance.now();
    await compose(['restart', service]);
    await ready();
    restarts[service] = (performance.now() - started) / 1_000;
  }
  while (load.sent() < TRIGGERS) await sleep(100);
  const { workflowId, latencies, lost, retried } = await load.stop();
  const count = async (): Promise<Record<string, number>> => {
    const query = `SELECT json_object_agg(status, n) FROM
      (SELECT status, count(*) AS n FROM runs WHERE workflow_id = '${workflowId}' GROUP BY status) AS counts`;
    const psql = ['psql', '--username', 'workflows', '--tuples-only', '--command', query];
    return JSON.parse(await inside('postgres', psql));
  };
  const deadline = Date.now() + SETTLE_MS;
  let runs = await count();
  while ((runs['pending'] ?? 0) + (runs['running'] ?? 0) > 0 && Date.now() < deadline) {
    await sleep(1_000);
    runs = await count();
  }
  await check(`${TRIGGERS} triggers through restarts: none lost, each one run`, async () => {
    assert.deepEqual([latencies.length, lost], [TRIGGERS, []]);
    assert.deepEqual(runs, { success: TRIGGERS });
  });
  const longest = Math.max(...latencies);
  return { restartSeconds: restarts, triggers: TRIGGERS, lost, retried, longestMs: longest, runs };
}

/** The data survives the containers. Returns the seconds until it is ready again. */
export async function checkDownAndUp(
  { url, compose, up }: Deployment,
  runId: string,
  check: Check,
): Promise<number> {
  await compose(['down']);
  const seconds = await up();
  await check('the Temporal server does not look for its old container', async () => {
    assert.doesNotMatch(await compose(['logs', 'temporal']), /Not enough hosts/);
  });
  await check('a run is still there after down and up', async () => {
    assert.equal((await (await ownerOf(url)).getRun(runId)).status, 'success');
  });
  return seconds;
}
