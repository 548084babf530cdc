import { expect, test } from '@jest/globals';
import { sealAuditEntries, verifyAudit } from '#shared/db/audit/chain.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const verify = () => verifyAudit(engine.db, engine.actor.workspaceId);
const change = (statement: FragmentSqlToken) => engine.db.query(sql.unsafe`${statement}`);

test('the check of the audit log compares decisions at gates with what these showed', async () => {
  const gate = (id: string) =>
    ({ id, kind: 'human_gate', prompt: 'Pay {amount}?', title: 'Pay {amount}' }) as never;
  const runId = await engine.start(chain(gate('one'), tools.node('pay'), gate('two')), {
    amount: 5,
  });
  await engine.until(runId, ['paused']);
  await engine.approve(runId, { input: { amount: 7 } });
  await eventually(async () => (await engine.run(runId)).pending_gate?.step_key === 'two');
  await engine.decide(runId, { approved: false } as never);
  await engine.ended(runId);
  // The API seals, too: while it does, nothing is left to seal here.
  await eventually(async () => {
    await sealAuditEntries(engine.db, engine.actor.workspaceId);
    return !(await engine.db.exists(sql.unsafe`SELECT FROM audit_unsealed`));
  });
  expect(await verify()).toMatchObject({ valid: true, tool_calls: { decisions: 2, problems: [] } });

  const finds = async (forth: FragmentSqlToken, back: FragmentSqlToken, problem: string) => {
    await change(forth);
    expect(await verify()).toMatchObject({
      valid: false,
      tool_calls: { problems: [{ run_id: runId, step_key: 'one', problem }] },
    });
    await change(back);
    expect(await verify()).toMatchObject({ valid: true });
  };
  const of = sql.fragment`WHERE run_id = ${runId} AND step_key = 'one'`;
  await finds(
    sql.fragment`UPDATE gates SET prompt = 'Pay 1?' ${of}`,
    sql.fragment`UPDATE gates SET prompt = 'Pay 5?' ${of}`,
    'the digest is not that of what the gate showed',
  );
  await finds(
    sql.fragment`UPDATE gates SET title = 'Pay 1' ${of}`,
    sql.fragment`UPDATE gates SET title = 'Pay 5' ${of}`,
    'the digest is not that of what the gate showed',
  );
  await finds(
    sql.fragment`UPDATE gates SET consequences = replace(consequences::text, '"pay"', '"say"')::json ${of}`,
    sql.fragment`UPDATE gates SET consequences = replace(consequences::text, '"say"', '"pay"')::json ${of}`,
    'the digest is not that of what the gate showed',
  );
  await finds(
    sql.fragment`UPDATE gates SET status = 'rejected' ${of}`,
    sql.fragment`UPDATE gates SET status = 'approved' ${of}`,
    'the gate is rejected, which is not what was decided',
  );
  await finds(
    sql.fragment`UPDATE gates SET decided_digest = reverse(decided_digest) ${of}`,
    sql.fragment`UPDATE gates SET decided_digest = reverse(decided_digest) ${of}`,
    'the digest of the decision is not that of its gate',
  );
  await finds(
    sql.fragment`UPDATE gates SET step_key = 'gone' ${of}`,
    sql.fragment`UPDATE gates SET step_key = 'one' WHERE run_id = ${runId} AND step_key = 'gone'`,
    'the gate of this decision was removed',
  );
});
