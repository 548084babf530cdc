import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { sealAuditEntries, sweepAudit, verifyAudit } from '#shared/db/audit/chain.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import { rerunRun } from '#shared/operations/forks/forks.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

/** The check of the audit log compares the approvals of tool calls with the calls that were made. */

const engine = useEngine();
const server = useStage(startToolServer);
let workspaceId: string;
beforeAll(() => void ({ workspaceId } = engine.actor));

const STEP = 'clerk/1.1';
const change = (statement: FragmentSqlToken) => engine.db.query(sql.unsafe`${statement}`);

/** A run that waits for the approval of one call, with a body of `text` and an address. */
async function waiting(text = 'Pay', tool = 'pay'): Promise<string> {
  const url = `${server.url}/${tool}`;
  const args = { method: 'POST', body: { text, to: 'ann@example.com' } };
  const runId = await engine.start(
    chain({
      id: 'clerk',
      kind: 'agent',
      prompt: 'Pay it',
      tools: [
        { name: 'http_request', ['fixed']: { url }, approval: 'always', on_error: 'fail' },
        'json_transform',
      ],
      mock: {
        turns: [
          {
            calls: [
              { tool: 'http_request', arguments: args },
              { tool: 'json_transform', arguments: { expression: '1 + 1' } },
            ],
          },
          { output: 'Paid' },
        ],
      },
    }),
  );
  await engine.until(runId, ['paused']);
  return runId;
}

async function decide(runId: string, decision: object = {}): Promise<void> {
  const run = await engine.run(runId);
  const { digest } = run.pending_gates[0]!.tool_call!;
  const { actor } = engine;
  await decideGate(engine.deps, { actor, runId, approved: true, digest, ...decision });
}

const changed = (runId: string) => ({
  arguments: {
    url: `${server.url}/pay`,
    method: 'POST',
    body: { text: `Half of it for ${runId}`, to: 'ann@example.com' },
  },
});

async function paid(decision?: (runId: string) => object): Promise<string> {
  const runId = await waiting();
  await decide(runId, decision?.(runId));
  await engine.until(runId, ['success']);
  return runId;
}

const check = () => verifyAudit(engine.db, workspaceId);
const problems = async () =>
  (await check()).tool_calls.problems.map(({ run_id, step_key, problem }) => [
    run_id,
    step_key,
    problem,
  ]);
const sealAll = () =>
  eventually(async () => {
    await sealAuditEntries(engine.db, workspaceId);
    return (await check()).unsealed === 0;
  });

async function command(...args: string[]) {
  const { NODE_OPTIONS: _flags, ...inherited } = process.env;
  const script = join(import.meta.dirname, '../../scripts/admin/audit-verify.ts');
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...inherited, DATABASE_URL: engine.databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: output.trim() };
}

describe('an honest record is valid', () => {
  test('with changed arguments, a rejection, an open question and a resume', async () => {
    await paid();
    await paid(changed);
    const rejected = await waiting();
    await decide(rejected, { approved: false, reason: 'No' });
    await engine.until(rejected, ['success']);
    server.answer('fragile', { status: 400 });
    const resumed = await waiting('Pay', 'fragile');
    await decide(resumed);
    await engine.until(resumed, ['failed']);
    server.answer('fragile', {});
    await engine.resume(resumed);
    await engine.until(resumed, ['success']);
    await waiting();
    await sealAll();
    expect(await check()).toMatchObject({
      valid: true,
      tool_calls: { decisions: 4, made: 3, problems: [] },
    });
    const { code, output } = await command();
    expect(code).toBe(0);
    expect(output).toContain('whole, ');
    expect(output).toContain(', 4 decisions at gates and about tool calls, 3 calls made, head ');
  }, 60_000);

  soakTest('when the policies redact what is recorded', async () => {
    const redaction = { detectors: ['email' as const], patterns: [] };
    await replacePolicies(engine.db, engine.actor, { ...unrestricted, redaction });
    const runId = await paid(changed);
    const { steps } = await engine.run(runId);
    expect(JSON.stringify(steps.find(({ step_key }) => step_key === STEP)?.input)).toContain(
      '[REDACTED:email]',
    );
    expect(await problems()).toEqual([]);
    const input = '{"body": {"text": "All", "to": "[REDACTED:email]"}}';
    await change(
      sql.fragment`UPDATE steps SET input = ${input}::json WHERE run_id = ${runId} AND step_key = ${STEP}`,
    );
    expect(await problems()).toEqual([
      [runId, STEP, 'the recorded arguments are not those that were approved'],
    ]);
    await change(sql.fragment`DELETE FROM runs WHERE id = ${runId}`);
    await replacePolicies(engine.db, engine.actor, unrestricted);
  });
});

describe('tampering is reported, until retention removes the run', () => {
  const unapproved = 'the call was made without an approval of its arguments';
  const step = (runId: string) => sql.fragment`run_id = ${runId} AND step_key = ${STEP}`;
  const cases: [string, (runId: string) => FragmentSqlToken, string[]][] = [
    [
      'the arguments of an approval',
      (runId) => sql.fragment`UPDATE gates SET decided_arguments = '{"a": 1}' WHERE ${step(runId)}`,
      ['the digest is not that of the call as it was changed', unapproved],
    ],
    [
      'the digest of an approval',
      (runId) => sql.fragment`UPDATE gates SET decided_digest = 'sha256:00' WHERE ${step(runId)}`,
      ['the digest of the decision is not that of its gate', unapproved],
    ],
    [
      'the shown arguments',
      (runId) => sql.fragment`UPDATE gates SET arguments = '{"a": 1}' WHERE ${step(runId)}`,
      ['the digest is not that of the shown call'],
    ],
    [
      'the decision',
      (runId) => sql.fragment`UPDATE gates SET status = 'rejected' WHERE ${step(runId)}`,
      [
        'the gate is rejected, which is not what was decided',
        'the call was made without an approval',
      ],
    ],
    [
      'the gate, removed',
      (runId) => sql.fragment`DELETE FROM gates WHERE ${step(runId)}`,
      ['the gate of this decision was removed', 'the call was made without an approval'],
    ],
    [
      'the arguments of the step',
      (runId) => sql.fragment`UPDATE steps SET input = '{"a": 1}' WHERE ${step(runId)}`,
      ['the recorded arguments are not those that were approved'],
    ],
  ];
  test.each(cases)(
    '%s',
    async (_what, tamper, expected) => {
      const runId = await paid(changed);
      expect(await problems()).toEqual([]);
      await change(tamper(runId));
      expect(await problems()).toEqual(expected.map((problem) => [runId, STEP, problem]));
      const { code, output } = await command();
      expect(code).toBe(1);
      expect(output).toContain(`TOOL CALL ${STEP} of run ${runId}: ${expected[0]}`);
      await change(sql.fragment`DELETE FROM runs WHERE id = ${runId}`);
      expect(await problems()).toEqual([]);
    },
    30_000,
  );

  test('the arguments that the model requested', async () => {
    const runId = await paid();
    await change(sql.fragment`
      UPDATE steps SET output = replace(output::text, 'Pay', 'Pay more')::json
      WHERE run_id = ${runId} AND step_key = 'clerk/1'`);
    expect(await problems()).toEqual([[runId, STEP, unapproved]]);
    await change(sql.fragment`DELETE FROM runs WHERE id = ${runId}`);
  }, 30_000);

  test('a call that was rejected and is recorded as made', async () => {
    const runId = await waiting();
    await decide(runId, { approved: false });
    await engine.until(runId, ['success']);
    await change(
      sql.fragment`UPDATE steps SET status = 'success', attempts = 1 WHERE ${step(runId)}`,
    );
    expect(await problems()).toEqual([[runId, STEP, 'the call was made without an approval']]);
    await change(sql.fragment`DELETE FROM runs WHERE id = ${runId}`);
  }, 30_000);

  soakTest('an entry of the log that is missing, unless retention removed it', async () => {
    const runId = await paid(changed);
    await sealAll();
    await change(sql.fragment`ALTER TABLE audit_log DISABLE TRIGGER ALL`);
    const entries = sql.fragment`
      FROM audit_log WHERE target_id = ${runId} AND action = 'approve'`;
    await change(sql.fragment`CREATE TABLE kept AS SELECT * ${entries}`);
    await change(sql.fragment`DELETE ${entries}`);
    expect(await check()).toMatchObject({
      valid: false,
      first_problem: { problem: 'the entry was removed' },
      tool_calls: {
        problems: [{ run_id: runId, problem: 'the approval is not in the audit log' }],
      },
    });
    await change(sql.fragment`INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM kept`);
    await change(sql.fragment`ALTER TABLE audit_log ENABLE TRIGGER ALL`);
    const before = new Date(Date.now() + 60_000).toISOString();
    while ((await sweepAudit(engine.db, { workspaceId, before, batch: 500 })) > 0);
    expect(await check()).toMatchObject({
      valid: true,
      tool_calls: { decisions: 0, problems: [] },
    });
  });
});

const problemsOf = async (runId: string) => (await problems()).filter(([id]) => id === runId);

test('a decision of a request does not count as tampering in a rehearsal that executes nothing, but does if a call was made under it', async () => {
  const runId = await waiting();
  const { actor } = engine;
  const decisions = { [STEP]: { approved: true } };
  const request = { actor, runId, trigger: 'manual', mode: 'recorded', decisions } as const;
  const rehearsal = await rerunRun(engine.deps, request);
  const { steps } = await engine.until(rehearsal.runId, ['failed']);
  expect(steps.find(({ step_key }) => step_key === STEP)?.status).toBe('unrecorded');
  expect(await problemsOf(rehearsal.runId)).toEqual([]);

  const made = await paid();
  expect(await problemsOf(made)).toEqual([]);
  await change(sql.fragment`UPDATE gates SET decided_by_kind = 'request' WHERE run_id = ${made}`);
  expect(await problemsOf(made)).toEqual([
    [made, STEP, 'the call was made under the decision of a request, which releases nothing'],
  ]);
}, 60_000);
