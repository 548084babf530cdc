import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readEvidenceGates } from '#shared/db/evidence/evidence.ts';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually } from '#test/support/engine.ts';
import { historyTexts, rowTexts } from '#test/support/stored-texts.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const env: Record<string, string> = {
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EMAIL_API_KEY: 're_key_of_this_test',
  PUBLIC_URL: 'https://ops.example.com',
  RECONCILE_INTERVAL_SECONDS: '0.3',
};
let mail: MailServer;
// Before the engine reads the settings.
beforeAll(async () => {
  mail = await startMailServer();
  env['EMAIL_API_URL'] = mail.url;
});
const { engine, call } = useEngineApi({ env });
const tools = useToolServer();
afterAll(() => mail.close());

const settings = (change: object) => call('PUT', '/api/workspace/alerts', change);
const on = { decide_by_link: true, accept_link_risk: true };
beforeEach(async () => {
  mail.refusal = undefined;
  mail.seen.length = 0;
  expect((await settings(on)).status).toBe(200);
});

type Person = Awaited<ReturnType<typeof addCaller>>;
const member = (given?: Parameters<typeof addCaller>[1]): Promise<Person> =>
  addCaller({ db: engine.db, workspaceId: engine.actor.workspaceId }, given);

const gated = (given: JsonObject) => ({
  nodes: [
    {
      id: 'review',
      kind: 'human_gate',
      prompt: 'Pay {amount}?',
      label: 'Payment',
      ...given,
    } as never,
    echo('paid'),
    echo('refused'),
  ],
  edges: [edge('review', 'paid', 'true'), edge('review', 'refused', 'false')],
});
const only = (...people: Person[]) => ({ approvers: { members: people.map(({ id }) => id) } });

interface Letter {
  to: string[];
  subject: string;
  text: string;
}
const letters = (): Letter[] => mail.seen.map(({ body }) => JSON.parse(body) as Letter);
const tokenIn = ({ text }: Letter): string => /\/decide#([\w-]+)/.exec(text)?.[1] ?? '';
const lettersTo = ({ id }: Person) => letters().filter(({ to }) => to[0] === `${id}@example.com`);

/** A run that waits at a gate, and the token that was mailed to this member. */
async function mailed(
  person: Person,
  given: JsonObject = {},
): Promise<{ runId: string; token: string }> {
  const runId = await engine.start(gated({ ...only(person), ...given }), { amount: 5 });
  await engine.until(runId, ['paused']);
  await eventually(() => lettersTo(person).length > 0, 30_000);
  return { runId, token: tokenIn(lettersTo(person).at(-1)!) };
}

const open = (token: string) => call('POST', '/api/decide/open', { token });
const decide = (token: string, decision: 'approve' | 'reject', more: object = {}) =>
  call('POST', '/api/decide', { token, decision, ...more });
/** Reads the page, and decides what it shows. */
const answer = async (token: string, decision: 'approve' | 'reject', more: object = {}) =>
  decide(token, decision, { digest: (await open(token)).body.digest, ...more });
const statusAndDetail = ({ status, body }: Awaited<ReturnType<typeof open>>) => [
  status,
  body.detail,
];
const changes = () => engine.db.oneFirst(sql.unsafe`SELECT count(*) FROM audit_log`);

describe('the email about a gate', () => {
  test('goes to its named approvers, each with a link of their own, and not to others', async () => {
    const [ann, ben] = [await member(), await member()];
    const viewer = await member({ role: 'viewer' });
    await member();
    const runId = await engine.start(gated(only(ann, ben, viewer)), { amount: 5 });
    await eventually(() => letters().length === 2, 30_000);
    const { text, subject } = lettersTo(ann)[0]!;
    expect(subject).toBe('[Durable workflows] Your approval is needed - test');
    expect(text).toMatch(
      new RegExp(
        `^Run ${runId} of 'test' waits for your decision: Pay 5\\?\n\nDecide without signing in`,
      ),
    );
    expect(text).toContain(`https://ops.example.com/decide#${tokenIn(lettersTo(ann)[0]!)}\n`);
    expect(text).toContain(`https://ops.example.com/approvals/${runId}/review`);
    expect(tokenIn(lettersTo(ann)[0]!)).not.toBe(tokenIn(lettersTo(ben)[0]!));
    expect(lettersTo(viewer)).toEqual([]);
  }, 60_000);

  test('is stored nowhere with its token: not in the database, nor in histories', async () => {
    const { token } = await mailed(await member());
    await eventually(
      async () => !(await engine.db.exists(sql.unsafe`SELECT FROM outbox WHERE kind = 'alert'`)),
    );
    const texts = [...(await rowTexts(engine.db)), ...(await historyTexts(engine.deps.temporal))];
    expect(texts.filter((text) => text.includes(token))).toEqual([]);
    expect(texts.length).toBeGreaterThan(10);
  }, 60_000);

  test('is sent again with the same link, only to those who did not get it', async () => {
    const [ann, ben] = [await member(), await member()];
    mail.refusal = { status: 503, body: { message: 'later' } };
    await engine.start(gated(only(ann, ben)), { amount: 5 });
    await eventually(() => lettersTo(ann).length >= 2 && lettersTo(ben).length >= 2, 30_000);
    mail.refusal = undefined;
    const hasMailed = async () =>
      Number(
        await engine.db.oneFirst(sql.unsafe`
        SELECT count(*) FROM decide_links WHERE mailed_at IS NOT NULL AND member_id IN (${ann.id}, ${ben.id})`),
      ) === 2;
    await eventually(hasMailed, 30_000);
    for (const person of [ann, ben]) {
      expect(new Set(lettersTo(person).map(tokenIn)).size).toBe(1);
      expect((await open(tokenIn(lettersTo(person)[0]!))).status).toBe(200);
    }
    const keys = mail.seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
  }, 60_000);

  test('goes to the assignee instead, and a reminder has another link', async () => {
    const [ann, ben] = [await member(), await member()];
    const { runId } = await mailed(ann, { ...only(ann, ben) });
    const body = { member_id: ben.id };
    expect((await call('POST', `/api/runs/${runId}/assign`, body, ann.headers)).status).toBe(200);
    await eventually(() => lettersTo(ben).length === 2, 30_000);
    const assigned = lettersTo(ben).find(({ subject }) => subject.includes('assigned to you'))!;
    expect((await open(tokenIn(assigned))).body.member.name).toBe(`Member ${ben.id.slice(-4)}`);

    const cem = await member();
    await mailed(cem, { remind_seconds: 1 });
    await eventually(() => lettersTo(cem).length >= 2, 30_000);
    const [first, reminder] = lettersTo(cem);
    expect(reminder!.text).toContain('waits for your decision: Reminder: Pay 5?');
    expect(tokenIn(first!)).not.toBe(tokenIn(reminder!));
    await answer(tokenIn(first!), 'approve');
  }, 60_000);

  test('goes to at most twenty members, first to those named one by one', async () => {
    const many = await Promise.all(Array.from({ length: 21 }, () => member()));
    const last = many.at(-1)!;
    const approvers = { roles: ['editor'], members: [last.id] };
    const runId = await engine.start(gated({ approvers }), { amount: 5 });
    await eventually(() => letters().length === 20, 30_000);
    expect(lettersTo(last)).toHaveLength(1);
    const links = sql.unsafe`
      SELECT count(*) FROM decide_links WHERE run_id = ${runId} AND mailed_at IS NOT NULL`;
    await eventually(async () => Number(await engine.db.oneFirst(links)) === 20);
    expect(letters()).toHaveLength(20);
  }, 60_000);

  test('has no link, and is not sent, while links are off or the gate needs members to sign in', async () => {
    const [ann, ben] = [await member(), await member()];
    const signedIn = await engine.start(gated({ ...only(ann), signed_in: true }), { amount: 5 });
    await engine.until(signedIn, ['paused']);
    // Its alerts come after those of the other gate.
    await mailed(await member());
    expect(lettersTo(ann)).toEqual([]);
    mail.seen.length = 0;
    await settings({});
    const off = await engine.start(gated(only(ann)), { amount: 5 });
    await engine.until(off, ['paused']);
    expect(
      await engine.db.exists(
        sql.unsafe`SELECT FROM outbox WHERE payload ->> 'event' = 'requested'`,
      ),
    ).toBe(false);
    const body = { member_id: ben.id };
    const free = await engine.start(gated({}), { amount: 5 });
    await engine.until(free, ['paused']);
    await call('POST', `/api/runs/${free}/assign`, body, ann.headers);
    await eventually(() => lettersTo(ben).length === 1, 30_000);
    expect(letters().map(tokenIn)).toEqual(['']);
  }, 60_000);
});

describe('a link', () => {
  test('shows the gate to a program that checks emails, and changes nothing', async () => {
    const ann = await member();
    const { token, runId } = await mailed(ann);
    const before = await changes();
    for (const method of ['GET', 'HEAD'] as const) {
      for (const url of ['/decide', `/decide?token=${token}`, '/api/decide', '/api/decide/open']) {
        await call(method, url, undefined, { accept: 'text/html' });
      }
    }
    const [first, second] = [await open(token), await open(token)];
    expect([first.status, second.body]).toEqual([200, first.body]);
    expect(first.body).toMatchObject({
      member: { name: `Member ${ann.id.slice(-4)}` },
      workspace: { name: 'Default' },
      workflow: { name: 'test' },
      run_id: runId,
      changed: false,
      approvals: 0,
      gate: { kind: 'human_gate', label: 'Payment', prompt: 'Pay 5?' },
      consequences: { approve: { effects: [] } },
      digest: expect.stringMatching(/^sha256:/),
    });
    expect(first.text).not.toContain('approvers');
    expect(await changes()).toBe(before);
    expect((await engine.run(runId)).status).toBe('paused');
    expect((await answer(token, 'reject')).status).toBe(200);
  }, 60_000);

  test('decides as its member, also when it was forwarded, and says by_link in every record', async () => {
    const ann = await member();
    const { token, runId } = await mailed(ann, { required: 1 });
    const made = await answer(token, 'approve', { reason: 'as agreed' });
    expect([made.status, made.body]).toEqual([200, { status: 'decided', decision: 'approve' }]);
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]).toMatchObject({
      decision: { approved: true, by: `Member ${ann.id.slice(-4)}`, by_link: true },
      decisions: [{ member_id: ann.id, by_link: true, reason: 'as agreed' }],
    });
    const { logs } = (await call('GET', `/api/audit?target_id=${runId}&action=approve`)).body;
    expect(logs).toMatchObject([
      {
        actor_id: ann.id,
        details: { by_link: true, signed_in: { by: 'link' }, reason: 'as agreed' },
      },
    ]);
    const { decided } = (await call('GET', '/api/approvals/decided')).body;
    expect(decided.find((each: any) => each.run_id === runId).decision).toMatchObject({
      by_link: true,
    });
    const evidence = await engine.db.transaction(async (tx) => {
      const lines = [];
      for await (const page of readEvidenceGates(tx, runId)) lines.push(...page);
      return lines;
    });
    expect(evidence).toMatchObject([{ by_id: ann.id, by_link: true }]);
  }, 60_000);

  test('answers the same decision alike, and another one with what was decided', async () => {
    const { token, runId } = await mailed(await member());
    expect((await answer(token, 'reject')).body.status).toBe('decided');
    expect(await decide(token, 'reject')).toMatchObject({
      status: 200,
      body: { status: 'already_decided', decision: 'reject' },
    });
    const detail = "You have already rejected gate 'Payment' with this link";
    expect(statusAndDetail(await decide(token, 'approve'))).toEqual([409, detail]);
    expect(statusAndDetail(await open(token))).toEqual([409, detail]);
    const { total } = (await call('GET', `/api/audit?target_id=${runId}&action=reject`)).body;
    expect(total).toBe(1);
  }, 60_000);

  test('makes one decision of two clicks at once', async () => {
    const ann = await member();
    for (const others of [['approve'], ['reject', 'approve']] as const) {
      const { token, runId } = await mailed(ann);
      const { digest } = (await open(token)).body;
      const clicks = ['approve', ...others].map((decision) =>
        decide(token, decision as 'approve', { digest }),
      );
      const made = await Promise.all(clicks);
      for (const { status, body } of made) {
        expect([status, ['decided', 'already_decided'].includes(body.status)]).toEqual(
          status === 200 ? [200, true] : [409, false],
        );
      }
      const { logs } = (await call('GET', `/api/audit?target_id=${runId}`)).body;
      const counted = logs.filter(({ action }: any) => /^(approve|reject)$/.test(action));
      expect(counted).toHaveLength(1);
      mail.seen.length = 0;
    }
  }, 60_000);

  test('counts one approval of several, each of another member', async () => {
    const [ann, ben] = [await member(), await member()];
    const { token, runId } = await mailed(ann, { ...only(ann, ben), required: 2 });
    expect((await answer(token, 'approve')).body).toEqual({ status: 'open', decision: 'approve' });
    expect((await decide(token, 'approve')).body.status).toBe('already_decided');
    await eventually(() => lettersTo(ben).length === 1, 30_000);
    const other = tokenIn(lettersTo(ben)[0]!);
    expect((await open(other)).body).toMatchObject({ approvals: 1, gate: { required: 2 } });
    expect((await answer(other, 'approve')).body.status).toBe('decided');
    await engine.until(runId, ['success']);
  }, 60_000);

  test('is not used up by a wrong form', async () => {
    const form = {
      type: 'object',
      properties: { cost_center: { type: 'integer' } },
      required: ['cost_center'],
    };
    const { token, runId } = await mailed(await member(), { input_schema: form });
    expect((await open(token)).body.gate.input_schema).toEqual(form);
    const wrong = await answer(token, 'approve', { input: { cost_center: 'A' } });
    expect(statusAndDetail(wrong)).toEqual([
      400,
      'Invalid input: input.cost_center must be a whole number, not a text',
    ]);
    const right = await answer(token, 'approve', { input: { cost_center: 12 } });
    expect(right.body.status).toBe('decided');
    expect((await engine.until(runId, ['success'])).state).toMatchObject({ cost_center: 12 });
  }, 60_000);

  test('is not used up by an older digest, and its page shows what has changed', async () => {
    const ann = await member();
    const pay = {
      id: 'pay',
      kind: 'tool',
      tool_name: 'http_request',
      params: { method: 'POST', url: 'http://127.0.0.1:9/{fee.input.amount}' },
    } as never;
    const graph = {
      nodes: [
        { id: 'review', kind: 'human_gate', prompt: 'Pay?', ...only(ann) } as never,
        { id: 'fee', kind: 'human_gate', prompt: 'Fee?' } as never,
        { id: 'both', kind: 'merge' } as never,
        pay,
      ],
      edges: [edge('review', 'both', 'true'), edge('fee', 'both', 'true'), edge('both', 'pay')],
    };
    const runId = await engine.start(graph, {});
    await eventually(() => lettersTo(ann).length === 1, 30_000);
    const token = tokenIn(lettersTo(ann)[0]!);
    const { digest } = (await open(token)).body;
    await eventually(async () => (await engine.run(runId)).pending_gates.length === 2);
    await engine.approve(runId, { stepKey: 'fee', input: { amount: 7 } });
    const stale = await decide(token, 'approve', { digest });
    expect(statusAndDetail(stale)).toEqual([
      409,
      "What gate 'review' sets in motion has changed since you read it: read it again",
    ]);
    expect(stale.body.current.digest).not.toBe(digest);
    await eventually(async () => (await open(token)).body.changed === true);
    expect((await answer(token, 'reject')).body.status).toBe('decided');
  }, 60_000);

  test('is for what the gate sets in motion: not for a tool that was edited meanwhile', async () => {
    const ann = await member();
    const endpoint = { name: 'pay_bill', endpoint_url: 'https://bank.example/pay', method: 'POST' };
    const made = await call('POST', '/api/tools', { ...endpoint, headers: {}, retry_count: 0 });
    const pay = { id: 'pay', kind: 'tool', tool_name: 'custom:pay_bill', params: {} } as never;
    const review = { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?', ...only(ann) };
    const graph = { nodes: [review as never, pay], edges: [edge('review', 'pay', 'true')] };
    const flow = await engine.define(graph);
    const runId = await engine.trigger(flow, { amount: 5 });
    await eventually(() => lettersTo(ann).length === 1, 30_000);
    const token = tokenIn(lettersTo(ann)[0]!);
    const { digest } = (await open(token)).body;
    // An edited workflow changes nothing: the run keeps its version.
    const nodes = [
      { ...review, prompt: 'Something else?', approvers: { members: ['mem_x'] } },
      pay,
    ];
    const edited = await call('PUT', `/api/workflows/${flow}`, { graph: { ...graph, nodes } });
    expect(edited.status).toBe(200);
    expect((await open(token)).body).toMatchObject({ changed: false, gate: { prompt: 'Pay 5?' } });
    const elsewhere = { endpoint_url: 'https://evil.example/pay' };
    expect((await call('PUT', `/api/tools/${made.body.id}`, elsewhere)).status).toBe(200);
    const refused = await decide(token, 'approve', { digest });
    expect(statusAndDetail(refused)).toEqual([
      409,
      "What gate 'review' sets in motion has changed since you read it: read it again",
    ]);
    const { current } = refused.body;
    expect(current.consequences.approve.effects[0].host).toBe('evil.example');
    const rejected = await decide(token, 'reject', { digest: current.digest });
    expect(rejected.body.status).toBe('decided');
    expect((await engine.run(runId)).steps[0]?.decision).toMatchObject({ approved: false });
  }, 60_000);

  test('shows what a recheck has found, and accepts it only after that', async () => {
    const ann = await member();
    tools.answer('quote', { body: { price: 7 } });
    const read = tools.node('quote', { params: { url: `${tools.url}/quote`, method: 'GET' } });
    const review = { id: 'review', kind: 'human_gate', prompt: 'Pay {quote.body.price}?' };
    const gate = { ...review, recheck: true, ...only(ann) } as never;
    const pay = tools.node('pay', {
      params: { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{quote.body.price}' } },
    });
    const runId = await engine.start(chain(read, gate, pay), {});
    await eventually(() => lettersTo(ann).length === 1, 30_000);
    const token = tokenIn(lettersTo(ann)[0]!);
    tools.answer('quote', { body: { price: 9 } });
    // Nothing can be accepted that was not shown.
    const refused = await answer(token, 'approve', { accept_changes: true });
    const differences = [{ step_key: 'quote', path: ['body', 'price'], before: 7, now: 9 }];
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'changed', stale: { differences } },
    ]);
    expect((await open(token)).body.gate).toMatchObject({ stale: { differences } });
    expect((await answer(token, 'approve')).status).toBe(409);
    expect((await answer(token, 'approve', { accept_changes: true })).body.status).toBe('decided');
    await engine.until(runId, ['success']);
    // What was shown is sent.
    expect(tools.calls('pay').map(({ body }) => JSON.parse(body))).toEqual([{ amount: 7 }]);
    const { logs } = (await call('GET', `/api/audit?target_id=${runId}&action=approve`)).body;
    expect(logs[0].details).toMatchObject({
      by_link: true,
      accepted_changes: [{ before: 7, now: 9 }],
    });
  }, 60_000);

  test('of a step that needs approval takes other arguments', async () => {
    const ann = await member();
    const node = {
      id: 'send',
      kind: 'tool',
      tool_name: 'send_email',
      params: { to: 'a@example.com', subject: 'Hello {amount}', text: 'x' },
      approval: { when: 'always', ...only(ann) },
    } as never;
    const runId = await engine.start({ nodes: [node], edges: [] }, { amount: 5 });
    await eventually(() => lettersTo(ann).length === 1, 30_000);
    const token = tokenIn(lettersTo(ann)[0]!);
    const { gate, tool, digest } = (await open(token)).body;
    expect(gate.tool_call.arguments).toMatchObject({ subject: 'Hello 5' });
    expect(tool.schema).toMatchObject({ type: 'object' });
    const wrong = { ...gate.tool_call.arguments, to: 5 };
    expect((await decide(token, 'approve', { digest, arguments: wrong })).status).toBe(400);
    const edited = { ...gate.tool_call.arguments, subject: 'Hello 6' };
    const made = await decide(token, 'approve', { digest, arguments: edited });
    expect(made.body).toEqual({ status: 'decided', decision: 'approve' });
    await engine.until(runId, ['success']);
    expect(letters().map(({ subject }) => subject)).toContain('Hello 6');
  }, 60_000);

  test('is never sent for the call of an agent', async () => {
    const ann = await member();
    const agent = {
      id: 'writer',
      kind: 'agent',
      model: 'mock',
      tools: [{ name: 'send_email', approval: 'always' }],
      mock: {
        turns: [
          {
            calls: [
              { tool: 'send_email', arguments: { to: 'a@b.example', subject: 's', text: 't' } },
            ],
          },
          { output: 'Done' },
        ],
      },
    } as never;
    const runId = await engine.start({ nodes: [agent], edges: [] }, {});
    await engine.until(runId, ['paused']);
    const body = { member_id: ann.id };
    expect((await call('POST', `/api/runs/${runId}/assign`, body)).status).toBe(200);
    await eventually(() => lettersTo(ann).length === 1, 30_000);
    expect(tokenIn(lettersTo(ann)[0]!)).toBe('');
    expect(
      await engine.db.exists(sql.unsafe`SELECT FROM decide_links WHERE run_id = ${runId}`),
    ).toBe(false);
  }, 60_000);
});

test('a link that ends while its decision is made leaves no decision', async () => {
  const ann = await member();
  const { runId } = await mailed(ann);
  const { db, deps, actor } = engine;
  const id = String(
    await db.oneFirst(sql.unsafe`
    SELECT id FROM decide_links WHERE run_id = ${runId}`),
  );
  const decision = {
    actor: { ...actor, id: ann.id, role: 'editor', signedIn: { by: 'link' } },
    runId,
    approved: true,
    link: { id },
  } as const;
  // What ends it, and what takes that back.
  const ends = [
    [
      sql.unsafe`UPDATE decide_links SET expires_at = now()`,
      sql.unsafe`UPDATE decide_links SET expires_at = now() + interval '1 day'`,
    ],
    [
      sql.unsafe`UPDATE decide_links SET used_at = now(), approved = false`,
      sql.unsafe`UPDATE decide_links SET used_at = NULL, approved = NULL`,
    ],
    [
      sql.unsafe`UPDATE decide_links SET opened_at = opened_at - interval '1 s'`,
      sql.unsafe`UPDATE decide_links SET opened_at = opened_at + interval '1 s'`,
    ],
    [
      sql.unsafe`UPDATE workspace_alerts SET link_generation = link_generation + 1`,
      sql.unsafe`UPDATE workspace_alerts SET link_generation = link_generation - 1`,
    ],
    [
      sql.unsafe`UPDATE workspace_alerts SET decide_by_link = false`,
      sql.unsafe`UPDATE workspace_alerts SET decide_by_link = true`,
    ],
  ] as const;
  for (const [end, takeBack] of ends) {
    await db.query(end);
    await expect(decideGate(deps, decision)).rejects.toMatchObject({
      code: 'conflict',
      message: 'This link has ended: open it again to read why',
    });
    await db.query(takeBack);
  }
  expect((await engine.run(runId)).status).toBe('paused');
  await decideGate(deps, decision);
  await engine.until(runId, ['success']);
}, 60_000);

describe('a link that has ended says why', () => {
  const both = async (token: string) => [
    statusAndDetail(await open(token)),
    statusAndDetail(await decide(token, 'approve', { digest: 'sha256:x' })),
  ];
  const twice = (status: number, detail: unknown) => [
    [status, detail],
    [status, detail],
  ];

  test('a token that does not exist, in any form', async () => {
    const detail = 'This link is unknown. Sign in to decide, or ask for another email';
    const { token } = await mailed(await member());
    for (const unknown of ['x', 'a'.repeat(43), `${token}a`, token.slice(1)]) {
      expect(await both(unknown)).toEqual(twice(404, detail));
    }
    expect((await open('x'.repeat(201))).status).toBe(400);
  }, 60_000);

  test('a member who was removed', async () => {
    const ann = await member();
    const { token, runId } = await mailed(ann, only(ann, await member()));
    expect((await call('DELETE', `/api/members/${ann.id}`)).status).toBeLessThan(300);
    expect(await both(token)).toEqual(
      twice(403, 'The member who got this link is no longer in the workspace'),
    );
    expect((await engine.run(runId)).status).toBe('paused');
  }, 60_000);

  test('a member who lost the role', async () => {
    const ann = await member();
    const { token } = await mailed(ann, only(ann, await member()));
    await call('PATCH', `/api/members/${ann.id}/role`, { role: 'viewer' });
    await engine.db.query(sql.unsafe`UPDATE members SET role = 'viewer' WHERE id = ${ann.id}`);
    expect(await both(token)).toEqual(
      twice(
        403,
        `Member ${ann.id.slice(-4)} no longer has the permission to decide (approve_gates)`,
      ),
    );
  }, 60_000);

  test('a member whom the rules of the gate exclude by now', async () => {
    const ann = await member({ role: 'admin' });
    const { token } = await mailed(ann, { approvers: { roles: ['admin'] } });
    const { digest } = (await open(token)).body;
    await engine.db.query(sql.unsafe`UPDATE members SET role = 'editor' WHERE id = ${ann.id}`);
    const detail = "Gate 'Payment' can only be decided by the roles admin";
    expect(statusAndDetail(await open(token))).toEqual([403, detail]);
    expect(statusAndDetail(await decide(token, 'approve', { digest }))).toEqual([403, detail]);
    const { logs } = (await call('GET', `/api/audit?action=decision_refused&limit=1`)).body;
    expect(logs).toMatchObject([{ actor_id: ann.id, details: { by_link: true } }]);
  }, 60_000);

  test('a gate that was decided elsewhere', async () => {
    const [ann, ben] = [await member(), await member()];
    const { token, runId } = await mailed(ann, only(ann, ben));
    await call('POST', `/api/runs/${runId}/approve`, { approved: false }, ben.headers);
    const by = `Member ${ben.id.slice(-4)}`;
    expect(await both(token)).toEqual(
      twice(409, `Gate 'Payment' has already been rejected by ${by}`),
    );
  }, 60_000);

  test('a run that was cancelled, and a gate that opened again', async () => {
    const ann = await member();
    const { token, runId } = await mailed(ann);
    await engine.cancel(runId);
    const detail = "Gate 'Payment' is no longer open: its run was cancelled or resumed since";
    expect(await both(token)).toEqual(twice(409, detail));
    await engine.resume(runId);
    await eventually(() => lettersTo(ann).length === 2, 30_000);
    expect(await both(token)).toEqual(twice(409, detail));
    const again = tokenIn(lettersTo(ann)[1]!);
    expect((await answer(again, 'approve')).body.status).toBe('decided');
  }, 60_000);

  test('a deadline that has passed', async () => {
    const { token, runId } = await mailed(await member(), {
      timeout_seconds: 1_000,
      on_timeout: 'reject',
    });
    await engine.db.query(sql.unsafe`
      UPDATE gates SET expires_at = now() - interval '1 s' WHERE run_id = ${runId}`);
    expect(await both(token)).toEqual(
      twice(409, "Gate 'Payment' has timed out: its deadline has passed"),
    );
  }, 60_000);

  test('seven days', async () => {
    const { token } = await mailed(await member());
    const { expires_at } = (await open(token)).body;
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    await engine.db.query(sql.unsafe`UPDATE decide_links SET expires_at = now()`);
    expect(await both(token)).toEqual(twice(410, 'This link has expired. Sign in to decide'));
  }, 60_000);

  test('links that were turned off, also after they are on again', async () => {
    const ann = await member();
    const { token, runId } = await mailed(ann, { remind_seconds: 1 });
    const detail = 'This workspace has turned off decisions by link. Sign in to decide';
    await settings({});
    expect(await both(token)).toEqual(twice(410, detail));
    await settings(on);
    expect(await both(token)).toEqual(twice(410, detail));
    const before = lettersTo(ann).length;
    await eventually(() => lettersTo(ann).length > before, 30_000);
    const next = tokenIn(lettersTo(ann).at(-1)!);
    expect((await answer(next, 'approve')).body.status).toBe('decided');
    await engine.until(runId, ['success']);
  }, 60_000);
});

test('a gate with signed_in is decided in a session only', async () => {
  const ann = await member();
  const runId = await engine.start(gated({ signed_in: true }), { amount: 5 });
  await engine.until(runId, ['paused']);
  const detail = "Gate 'Payment' can only be decided by a member who has signed in: use a session";
  for (const headers of [{}, ann.headers]) {
    const refused = await call('POST', `/api/runs/${runId}/approve`, { approved: true }, headers);
    expect(statusAndDetail(refused)).toEqual([403, detail]);
  }
  const shown = (await call('GET', `/api/runs/${runId}/gates/review`, undefined, ann.headers)).body;
  expect([shown.can_decide, shown.refusal]).toEqual([false, detail]);
  expect((await engine.run(runId)).pending_gates[0]).toMatchObject({ signed_in: true });
  const session = { ...engine.actor, signedIn: { by: 'session' } } as const;
  await decideGate(engine.deps, { actor: session, runId, approved: true });
  await engine.until(runId, ['success']);
}, 60_000);

test('links are turned on knowingly, and audited', async () => {
  await settings({});
  const refused = await settings({ decide_by_link: true });
  expect(statusAndDetail(refused)).toEqual([
    400,
    expect.stringContaining('send accept_link_risk: true to turn it on'),
  ]);
  expect((await settings(on)).body.decide_by_link).toBe(true);
  // It stays on without another confirmation.
  expect((await settings({ decide_by_link: true, email: ['a@example.com'] })).status).toBe(200);
  const { logs } = (await call('GET', '/api/audit?action=alerts_update&limit=2')).body;
  expect(logs[1].details).toMatchObject({ changed: ['decide_by_link'], decide_by_link: true });
});

test('unknown tokens of one address are limited, and a known one is not counted', async () => {
  const { token } = await mailed(await member());
  await engine.db.query(sql.unsafe`DELETE FROM sign_in_failures`);
  for (let each = 0; each < 100; each += 1) expect((await open(`x${each}`)).status).toBe(404);
  const limited = await open('y');
  expect([limited.status, limited.headers['retry-after']]).toEqual([429, expect.anything()]);
  await engine.db.query(sql.unsafe`DELETE FROM sign_in_failures`);
  for (let each = 0; each < 101; each += 1) expect((await open(token)).status).toBe(200);
}, 60_000);
