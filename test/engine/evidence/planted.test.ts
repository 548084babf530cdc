import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { buildApp } from '#api/app.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sealAuditEntries, verifyAudit } from '#shared/db/audit/chain.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import type { Json } from '#shared/json.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { callerOf } from '#test/api/test-api.ts';
import { createOps } from '#test/cli/ops.ts';
import { echo, edge, eventually, startEngine } from '#test/support/engine.ts';
import { rewritten, verifyText } from '#test/support/evidence.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';
import { createRandom, type Random } from '#test/storm/random.ts';

/** Someone changes the rows of a finished run, or its file, and the verifier finds it. */

const tools = useStage(startToolServer);
const models = useStage(startModelServer);
const engine = useStage(async () => {
  const started = await startEngine({ env: modelSettings(models) });
  const app = buildApp(started.deps);
  await app.ready();
  const client = new pg.Client({ connectionString: started.databaseUrl });
  await client.connect();
  const close = async (): Promise<void> => {
    await client.end();
    await app.close();
    await started.close();
  };
  return { ...started, app, client, close };
});
let runId: string;
let head: string;
beforeAll(async () => {
  const { actor, db } = engine;
  const redaction = { detectors: ['email'], patterns: [] };
  await replacePolicies(db, actor, { ...unrestricted, redaction } as never);
  models.answers.push({ text: '7', usage: { prompt_tokens: 1_000, completion_tokens: 200 } });
  tools.answer('broken', { status: 400 });
  const send = (id: string, body: object) =>
    tools.node(id, { params: { url: `${tools.url}/${id}`, method: 'POST', body } });
  const graph: GraphInput = {
    nodes: [
      echo('first', 'amount * 2') as never,
      { id: 'ok', kind: 'human_gate', prompt: 'Pay {amount}?' } as never,
      { id: 'ask', kind: 'agent', model: 'openai/gpt-5', prompt: 'Rate {first}' } as never,
      send('pay', { amount: '{amount}', note: '{note}', rate: '{ask}' }),
      { id: 'each', kind: 'map', items: 'list' } as never,
      send('part', { part: '{each.item}' }),
      { id: 'again', kind: 'loop', expression: 'count < 3', max_iterations: 5 } as never,
      echo('count', 'count + 1') as never,
      send('broken', { a: 1 }),
      echo('caught', 'broken.error.message') as never,
      { id: 'big', kind: 'condition', expression: 'amount > 10' } as never,
      echo('large', 'count * amount') as never,
      echo('small') as never,
    ],
    edges: [
      ...[edge('first', 'ok'), edge('ok', 'ask', 'true'), edge('ask', 'pay'), edge('pay', 'each')],
      ...[edge('each', 'part', 'true'), edge('part', 'each'), edge('each', 'again', 'false')],
      ...[edge('again', 'count', 'true'), edge('count', 'again'), edge('again', 'broken', 'false')],
      ...[edge('broken', 'caught', 'error'), edge('caught', 'big'), edge('big', 'large', 'true')],
      edge('big', 'small', 'false'),
    ],
  };
  runId = await engine.start(graph, {
    amount: 50,
    note: 'to ann@example.com',
    list: [1, 2],
    count: 0,
  });
  await engine.until(runId, ['paused']);
  await engine.approve(runId, { input: { amount: 60 }, reason: 'as agreed' } as never);
  const run = await engine.ended(runId);
  expect([run.error, run.status]).toEqual([null, 'success']);
  await eventually(async () => (await sealAuditEntries(db, actor.workspaceId)) === 0);
  head = (await verifyAudit(db, actor.workspaceId)).head!.hash;
});

/** Like the client, it asks again while earlier exports are not closed yet. */
const fileOf = async (): Promise<string> => {
  const path = `/api/runs/${runId}/evidence?contents=true`;
  let file = '';
  await eventually(async () => {
    const { status, text } = await callerOf(engine.app)('GET', path);
    if (status === 503) return false;
    expect(status).toBe(200);
    file = text;
    return true;
  });
  return file;
};

/** A cell of a row, with the value that someone plants there. */
interface Plant {
  table: string;
  row: string;
  column: string;
  type: string;
  value: (old: string, random: Random) => string;
}

/** The paths of the leaves of a value that a change must not leave unnoticed. */
function leavesOf(value: Json, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'string' && value.includes('[REDACTED:')) return [];
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) =>
    leavesOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

const otherLeaf = (value: Json): Json => {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  return typeof value === 'boolean' ? !value : 0;
};

/** The JSON text with one other leaf. */
const otherJson = (text: string, random: Random): string => {
  const value = JSON.parse(text) as Json;
  const leaves = leavesOf(value);
  const path = leaves[random.int(0, leaves.length - 1)] ?? [];
  if (path.length === 0) return JSON.stringify(otherLeaf(value));
  let at = value as Record<string | number, Json>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, Json>;
  const last = path.at(-1)!;
  at[last] = otherLeaf(at[last]!);
  return JSON.stringify(value);
};
const more = (old: string): string => String(Number(old) + 1);
const longer = (old: string): string => `${old}x`;
const otherHex = (old: string): string =>
  old.replace(/[0-9a-f]$/, (digit) => (digit === '0' ? '1' : '0'));

const step = (key: string, column: string, type: string, value: Plant['value']): Plant => ({
  ...{ table: 'steps', row: `run_id = '$run' AND step_key = '${key}'` },
  ...{ column, type, value },
});
const cell =
  (table: string, row: string) =>
  (column: string, type: string, value: Plant['value']): Plant => ({
    ...{ table, row, column, type, value },
  });
const gate = cell('gates', `run_id = '$run' AND step_key = 'ok'`);
const run = cell('runs', `id = '$run'`);
const verdict = cell('governance_events', `run_id = '$run' AND node_id = 'pay'`);
const entry = cell('audit_log', `target_id = '$run' AND action = 'approve'`);
const seal = cell(
  'audit_seals',
  `audit_id = (SELECT id FROM audit_log WHERE target_id = '$run' AND action = 'approve')`,
);

const executed = [
  'first',
  'ask',
  'pay',
  'part#1',
  'part#2',
  'count#1',
  'count#2',
  'count#3',
  'large',
  'caught',
];
const plants: Plant[] = [
  ...['pay', 'ask', 'part#1', 'part#2', 'count#1', 'count#3', 'first', 'large'].map((key) =>
    step(key, 'output', 'json', otherJson),
  ),
  gate('status', 'text', () => 'rejected'),
  step('ask', 'cost_micros', 'bigint', more),
  step('ask', 'usage', 'json', otherJson),
  verdict('reason', 'text', longer),
  gate('consequences', 'json', otherJson),
  entry('details', 'jsonb', otherJson),
  step('pay', 'finished_at', 'timestamptz', () => '2026-01-01T00:00:00Z'),
  ...executed
    .filter((key) => key !== 'caught')
    .map((key) => step(key, 'output', 'json', otherJson)),
  ...['ask', 'pay', 'part#1', 'large'].map((key) => step(key, 'input', 'json', otherJson)),
  ...executed.map((key) => step(key, 'cost_micros', 'bigint', more)),
  ...executed.map((key) => step(key, 'finished_at', 'timestamptz', () => '2026-01-01T00:00:00Z')),
  ...executed.map((key) => step(key, 'finished_at', 'timestamptz', () => '2100-01-01T00:00:00Z')),
  ...executed.map((key) => step(key, 'status', 'text', () => 'failed')),
  ...['big', 'each'].map((key) => step(key, 'status', 'text', () => 'skipped')),
  step('each', 'output', 'json', otherJson),
  step('small', 'status', 'text', () => 'success'),
  step('broken', 'error', 'text', longer),
  step('broken', 'caught', 'boolean', () => 'false'),
  step('pay', 'policy', 'json', () => '[]'),
  step('pay', 'policy', 'json', otherJson),
  step('ok', 'output', 'json', otherJson),
  gate('input', 'json', otherJson),
  gate('prompt', 'text', longer),
  gate('reason', 'text', longer),
  gate('decided_by', 'text', longer),
  gate('decided_digest', 'text', otherHex),
  gate('round', 'integer', more),
  gate('decided_by_kind', 'text', () => 'deadline'),
  run('cost_micros', 'bigint', more),
  run('state', 'json', otherJson),
  run('output', 'json', otherJson),
  run('input', 'json', otherJson),
  verdict('decision', 'text', () => 'granted'),
  verdict('evidence', 'json', otherJson),
  verdict('node_id', 'text', () => 'ask'),
  entry('actor_id', 'text', longer),
  entry('action', 'text', () => 'reject'),
  entry('created_at', 'timestamptz', () => '2026-01-01T00:00:00Z'),
  seal('hash', 'bytea', otherHex),
  seal('entry_digest', 'bytea', otherHex),
];

/** The problems after a change, which is then undone. */
async function planted(
  { table, row, column, type, value }: Plant,
  random: Random,
): Promise<string[]> {
  const { client } = engine;
  const where = row.replaceAll('$run', runId);
  const found = await client.query(`SELECT ${column}::text AS old FROM ${table} WHERE ${where}`);
  expect({ row, found: found.rowCount }).toEqual({ row, found: 1 });
  const { old } = found.rows[0] as { old: string };
  const set = `UPDATE ${table} SET ${column} = $1::text::${type} WHERE ctid = $2`;
  const place = async (): Promise<string> =>
    (
      (await client.query(`SELECT ctid::text AS at FROM ${table} WHERE ${where}`)).rows[0] as {
        at: string;
      }
    ).at;
  const at = await place();
  await client.query('SET session_replication_role = replica');
  const changed = await client.query(`${set} RETURNING ctid::text AS at`, [value(old, random), at]);
  try {
    return verifyText(await fileOf(), head).problems.map(
      ({ path, problem }) => `${path}: ${problem}`,
    );
  } finally {
    await client.query(set, [old, (changed.rows[0] as { at: string }).at]);
    await client.query('SET session_replication_role = origin');
  }
}

async function finds(each: readonly Plant[], random: Random): Promise<void> {
  const missed: string[] = [];
  for (const plant of each) {
    const problems = await planted(plant, random);
    if (problems.length === 0) missed.push(`${plant.table}.${plant.column} of ${plant.row}`);
  }
  expect(missed).toEqual([]);
  expect(verifyText(await fileOf(), head)).toMatchObject({ problems: [], proven: 'complete' });
}

/** The file with another digit at one place. */
function otherDigit(text: string, random: Random): string {
  const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const at = digits[random.int(0, digits.length - 1)]!;
  return `${text.slice(0, at)}${(Number(text[at]) + 1) % 10}${text.slice(at + 1)}`;
}

test('a change in a row of the run is found', async () => {
  await finds(plants.slice(0, 15), createRandom('planted'));
});

test('another digit anywhere in the file is found', async () => {
  const text = await fileOf();
  const random = createRandom('digits');
  for (let round = 0; round < 50; round += 1) {
    expect(verifyText(otherDigit(text, random), head).problems).not.toEqual([]);
  }
});

describe('ops evidence verify', () => {
  const verify = async (text: string, ...options: string[]) => {
    const ops = await createOps();
    const file = join(ops.configFolder, 'run.ndjson');
    await writeFile(file, text);
    const { code, stdout, stderr } = await ops(['evidence', 'verify', file, ...options]);
    return { code, said: `${stdout}${stderr}` };
  };

  test('says what is proven', async () => {
    const text = await fileOf();
    const without = await verify(text);
    expect(without).toMatchObject({
      code: 0,
      said: expect.stringMatching(/Proven: the file is consistent/),
    });
    const whole = await verify(text, '--head', `sha256:${head}`);
    expect(whole).toMatchObject({
      code: 0,
      said: expect.stringMatching(/up to the given head has its entries/),
    });
    const other = await verify(text, '--head', `sha256:${'0'.repeat(64)}`);
    expect(other).toMatchObject({
      code: 1,
      said: expect.stringMatching(/seals: they do not contain the given head/),
    });
    expect(await verify(text, '--head', 'newest')).toMatchObject({ code: 2 });
  });

  test.each([
    ['a text', (_text: string) => 'Dear customer', /Line 1, the line: it is not JSON/],
    ['other JSON', () => '{"status": "success"}', /Line 1, the line: it is no line of evidence/],
    [
      'another format',
      (text: string) => text.replace('"format":1', '"format":2'),
      /its format is 2, and this version verifies format 1/,
    ],
    [
      'a half file',
      (text: string) => text.slice(0, text.length / 2),
      /it was not received completely/,
    ],
    [
      'another digit',
      (text: string) => otherDigit(text, createRandom('one')),
      /the file was changed after the service wrote it/,
    ],
  ])('refuses %s with a sentence', async (_title, change, said) => {
    expect(await verify(change(await fileOf()))).toMatchObject({
      code: 1,
      said: expect.stringMatching(said),
    });
  });

  test('finds lines that someone who knows the format has removed', async () => {
    const text = await fileOf();
    const without = (kind: string, which: (line: any) => boolean = () => true) =>
      verifyText(
        rewritten(text, (lines) => lines.filter((line) => line.kind !== kind || !which(line))),
        head,
      ).problems;
    expect(
      verifyText(
        rewritten(text, (lines) => lines),
        head,
      ).problems,
    ).toEqual([]);
    expect(without('gate')).not.toEqual([]);
    expect(without('entry', ({ entry }) => entry.includes('approve'))).not.toEqual([]);
    expect(without('verdict')).not.toEqual([]);
    expect(without('seals')).not.toEqual([]);
    for (const key of executed) {
      expect({
        key,
        found: without('step', ({ step }) => step.step_key === key).length > 0,
      }).toEqual({ key, found: true });
    }
  });
});

test('an unknown run, and one of another workspace, have no evidence', async () => {
  const get = callerOf(engine.app);
  expect(await get('GET', '/api/runs/run_unknown/evidence')).toMatchObject({
    status: 404,
    body: { detail: 'Run not found' },
  });
  await engine.client.query(
    `INSERT INTO workspaces (id, name) VALUES ('ws_other', 'Other') ON CONFLICT DO NOTHING`,
  );
  const { headers } = await addCaller({ db: engine.db, workspaceId: 'ws_other' });
  expect(await get('GET', `/api/runs/${runId}/evidence`, undefined, headers)).toMatchObject({
    status: 404,
    body: { detail: 'Run not found' },
  });
});

soakTest('200 changes in rows are found', 600_000, async () => {
  const random = createRandom('two hundred');
  const all = Array.from({ length: 200 }, (_, at) => plants[at % plants.length]!);
  await finds(all, random);
});
