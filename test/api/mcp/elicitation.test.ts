import { describe, expect, test } from '@jest/globals';
import type { Client, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { createSealer } from '#shared/crypto/sealing.ts';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { connectMcp, type Generation, type Person } from '#test/fakes/mcp-client.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { chain, echo, edge } from '#test/support/engine.ts';

const ENCRYPTION_KEY = 'a key of this test, long enough';
const PUBLIC_URL = 'https://ops.example.com';
const SECRET_KEY = 'signs the sessions of these tests';
const { engine, call } = useEngineApi({ env: { ENCRYPTION_KEY, PUBLIC_URL, SECRET_KEY } });
const server = useToolServer();

type Question = ElicitRequest['params'];
type Answers = readonly (ElicitResult | ((question: Question) => ElicitResult))[];

const accept = (content: Record<string, string | number | boolean | string[]>): ElicitResult => ({
  action: 'accept',
  content,
});
const approve = accept({ decision: 'approve' });
const reject = accept({ decision: 'reject' });

/** A client whose person gives these answers, and what it was asked. */
async function asking(
  answers: Answers,
  { headers, offers = { form: {} }, generation }: Options = {},
): Promise<{ client: Client; asked: Question[]; run: typeof runWith; close: () => Promise<void> }> {
  const asked: Question[] = [];
  const client = await connectMcp(`${engine.url}/api/mcp`, generation, headers, {
    offers,
    answer: (question) => {
      const next = answers[asked.length];
      asked.push(question);
      if (next === undefined) throw new Error('the person was asked too often');
      return typeof next === 'function' ? next(question) : next;
    },
  });
  await client.listTools();
  const runWith = async (workflow: string, input: JsonObject = {}, more: object = {}) => {
    const given = { workflow, input, wait_seconds: 20, ...more };
    const result: any = await client.callTool({ name: 'run_workflow', arguments: given });
    const texts: string[] = result.content.map(({ text }: { text: string }) => text);
    return {
      data: result.structuredContent,
      error: result.isError === true ? texts[0] : undefined,
      texts,
    };
  };
  return { client, asked, run: runWith, close: () => client.close() };
}
declare const runWith: (
  workflow: string,
  input?: JsonObject,
  more?: object,
) => Promise<{ data: any; error: string | undefined; texts: string[] }>;

interface Options {
  headers?: Record<string, string>;
  offers?: Person['offers'];
  generation?: Generation;
}

const place = () => ({ db: engine.db, workspaceId: engine.actor.workspaceId });
const gated = (given: JsonObject = {}) => ({
  nodes: [
    {
      id: 'review',
      kind: 'human_gate',
      prompt: 'Pay {amount}?',
      label: 'Payment',
      ...given,
    } as never,
    server.node('pay', {
      params: { url: `${server.url}/pay`, method: 'POST', body: { amount: '{amount}' } },
    }),
    echo('refused', "'no'"),
  ],
  edges: [edge('review', 'pay', 'true'), edge('review', 'refused', 'false')],
});
const form = {
  type: 'object',
  properties: {
    amount: { type: 'integer', minimum: 1, multipleOf: 5, title: 'Amount' },
    account: { enum: ['main', 'tax'] },
  },
  required: ['amount'],
};
const auditOf = async (runId: string, action: string) =>
  (await call('GET', `/api/audit?target_id=${runId}&action=${action}`)).body.logs;
const paid = () => server.calls('pay').map(({ body }) => JSON.parse(body));

describe('a client that can ask its person', () => {
  test('asks with everything that follows, decides, and gets the output of the run in the same call', async () => {
    const { asked, run, close } = await asking([accept({ decision: 'approve', reason: ' fine ' })]);
    const before = paid().length;
    const { data } = await run(await engine.define(gated(), 'Pay a bill'), { amount: 7 });
    expect(data).toMatchObject({ status: 'success', replayed: false });
    expect(paid().slice(before)).toEqual([{ amount: 7 }]);
    const host = new URL(server.url).host;
    expect(asked).toMatchObject([
      {
        mode: 'form',
        message:
          'A run of the workflow "Pay a bill" waits for your decision: Payment\nPay 7?\n\n' +
          'If you approve, these are executed:\n' +
          `- pay: http_request to ${host}, write, certain; ` +
          `with ${JSON.stringify({ url: `${server.url}/pay`, method: 'POST', body: { amount: 7 } })}\n` +
          'If you reject, nothing is executed.',
        requestedSchema: {
          properties: {
            decision: {
              oneOf: [
                { const: 'approve', title: 'Approve' },
                { const: 'reject', title: 'Reject' },
              ],
            },
            reason: { type: 'string', maxLength: 1_000 },
          },
          required: ['decision'],
        },
      },
    ]);
    const [entry] = await auditOf(data.id, 'approve');
    expect(entry).toMatchObject({
      actor_id: engine.actor.id,
      details: { elicited: true, reason: 'fine', digest: expect.stringMatching(/^sha256:/) },
    });
    expect((await engine.run(data.id)).steps[0]?.decision).toMatchObject({ reason: 'fine' });
    await close();
  }, 60_000);

  test('rejects, and starts one run only', async () => {
    const { run, close } = await asking([reject]);
    const workflow = await engine.define(gated());
    const { data } = await run(workflow, { amount: 7 });
    expect(data).toMatchObject({ status: 'success', output: { refused: 'no' } });
    expect(await auditOf(data.id, 'reject')).toMatchObject([{ details: { elicited: true } }]);
    expect((await call('GET', `/api/runs?workflow_id=${workflow}`)).body.runs).toHaveLength(1);
    await close();
  }, 60_000);

  test.each(['decline', 'cancel'] as const)(
    'decides nothing on %s, and gets the run as it waits',
    async (action) => {
      const { run, close } = await asking([{ action }]);
      const { data } = await run(await engine.define(gated()), { amount: 7 });
      expect(data).toMatchObject({ status: 'paused', pending_gates: [{ step_key: 'review' }] });
      expect(await auditOf(data.id, 'reject')).toEqual([]);
      await close();
    },
    60_000,
  );

  test('asks about one gate after the other', async () => {
    const { asked, run, close } = await asking([approve, reject]);
    const gate = (id: string) => ({ id, kind: 'human_gate', prompt: `${id}?` }) as never;
    const workflow = await engine.define(chain(gate('first'), gate('second'), echo('end', '1')));
    const { data } = await run(workflow);
    expect(asked.map(({ message }) => /(\w+)\?$/m.exec(message)?.[1])).toEqual(['first', 'second']);
    expect(data.status).toBe('failed');
    await close();
  }, 60_000);

  test('fills in the form of a gate, and is asked again with what does not fit', async () => {
    const answers: Answers = [
      accept({ decision: 'approve', input_amount: 12, input_account: 'tax' }),
      accept({ decision: 'approve', input_amount: 15, input_account: 'tax' }),
      accept({ decision: 'approve', input_amount: 15, input_account: 'tax' }),
    ];
    const { asked, run, close } = await asking(answers);
    const before = paid().length;
    const { data } = await run(await engine.define(gated({ input_schema: form })), { amount: 7 });
    expect(data.state ?? (await engine.run(data.id)).state).toMatchObject({ amount: 15 });
    expect(paid().slice(before)).toEqual([{ amount: 15 }]);
    const [first, wrong, changed] = asked as any[];
    expect(first.requestedSchema.properties).toMatchObject({
      input_amount: {
        type: 'integer',
        minimum: 1,
        title: 'Amount',
        description: 'Needed to approve',
      },
      input_account: { type: 'string', enum: ['main', 'tax'], title: 'account' },
    });
    expect(first.requestedSchema.required).toEqual(['decision']);
    expect(wrong.message).toMatch(/^Invalid input: input\.amount must be multiple of 5/);
    expect(wrong.requestedSchema.properties.input_amount.default).toBe(12);
    // The amount changes what is sent: the person sees that before it counts.
    expect(changed.message).toMatch(/^With this answer something else follows/);
    expect(changed.message).toContain('"amount":15');
    await close();
  }, 60_000);

  test('shows what a recheck has found, and accepts it only after that', async () => {
    server.answer('price', { body: { price: 7 } });
    const read = server.node('price', { params: { url: `${server.url}/price`, method: 'GET' } });
    const gate = {
      id: 'review',
      kind: 'human_gate',
      prompt: 'Pay {price.body.price}?',
      recheck: true,
    };
    const graph = chain(read, gate as never, echo('done', '1'));
    const { asked, run, close } = await asking([
      () => {
        server.answer('price', { body: { price: 9 } });
        return approve;
      },
      approve,
    ]);
    const { data } = await run(await engine.define(graph));
    expect(data.status).toBe('success');
    expect(asked[1]!.message).toContain('- price.body.price was 7, now 9');
    expect((asked[1] as any).requestedSchema.properties.decision.oneOf[0].title).toBe(
      'Approve although values have changed',
    );
    const [entry] = await auditOf(data.id, 'approve');
    expect(entry.details).toMatchObject({ elicited: true, accepted_changes: [{ now: 9 }] });
    await close();
  }, 60_000);

  test('decides a call with its exact arguments', async () => {
    const { asked, run, close } = await asking([approve]);
    const step = server.node('pay', {
      params: { url: `${server.url}/pay`, method: 'POST', body: { to: 'Ada' } },
      approval: 'always',
    });
    const { data } = await run(await engine.define(chain(step)));
    expect(data.status).toBe('success');
    expect(asked[0]!.message).toContain('It will call http_request with {');
    expect(asked[0]!.message).toContain('{"to":"Ada"}');
    await close();
  }, 60_000);

  test('is asked by the tool of a workflow, too', async () => {
    const { client, close } = await asking([approve]);
    const input_schema = { type: 'object', properties: { amount: { type: 'integer' } } };
    const body = { name: 'Elicited tool', graph: gated(), input_schema };
    const { id } = (await call('POST', '/api/workflows', body)).body;
    await call('POST', `/api/workflows/${id}/publish`);
    const result: any = await client.callTool({
      name: 'run_elicited_tool',
      arguments: { amount: 3 },
    });
    expect(result.structuredContent).toMatchObject({ status: 'success' });
    await close();
  }, 60_000);

  test('counts one approval of several, and does not ask the same member again', async () => {
    const [ann, ben] = [await addCaller(place()), await addCaller(place())];
    const graph = gated({ approvers: { members: [ann.id, ben.id] }, required: 2 });
    const { run, close } = await asking([approve], { headers: ann.headers });
    const { data } = await run(await engine.define(graph), { amount: 7 });
    expect(data).toMatchObject({
      status: 'paused',
      pending_gates: [{ decisions: [{ member_id: ann.id }] }],
    });
    await close();
  }, 60_000);

  test('shows characters that would reorder the text as their codes', async () => {
    const { asked, run, close } = await asking([reject]);
    await run(await engine.define(gated()), { amount: '1\u202e000' });
    expect(asked[0]!.message).toContain('Pay 1\\u202e000?');
    await close();
  }, 60_000);
});

describe('no one is asked', () => {
  test.each<[string, () => Promise<Client>]>([
    ['by a client that does not offer it', () => connectMcp(`${engine.url}/api/mcp`)],
    [
      'by a client of an earlier protocol',
      async () => (await asking([], { generation: '2025-11-25' })).client,
    ],
  ])(
    '%s: the run is returned as it waits',
    async (_who, connect) => {
      const client = await connect();
      const workflow = await engine.define(gated());
      const result: any = await client.callTool({
        name: 'run_workflow',
        arguments: { workflow, input: { amount: 7 }, wait_seconds: 20 },
      });
      expect(result.structuredContent).toMatchObject({ status: 'paused' });
      expect(result.content).toHaveLength(1);
      await client.close();
    },
    60_000,
  );

  test('who cannot decide: not the starter, where others have to', async () => {
    const ann = await addCaller(place());
    const { run, close } = await asking([], {
      headers: ann.headers,
      offers: { form: {}, url: {} },
    });
    const { data } = await run(await engine.define(gated({ not_the_starter: true })), {
      amount: 7,
    });
    expect(data.status).toBe('paused');
    await close();
  }, 60_000);

  test('a form that does not fit: the page of the gate is named instead, where the client opens pages', async () => {
    const nested = {
      type: 'object',
      properties: { lines: { type: 'array', items: { type: 'object' } } },
    };
    const { asked, run, close } = await asking([approve, approve], {
      offers: { form: {}, url: {} },
    });
    const { data } = await run(await engine.define(gated({ input_schema: nested })), { amount: 7 });
    expect(data.status).toBe('paused');
    expect(asked).toMatchObject([
      { mode: 'url', url: `${PUBLIC_URL}/approvals/${data.id}/review` },
    ]);
    await close();
  }, 60_000);

  test('a question that is too long to read', async () => {
    const { run, close } = await asking([]);
    const { data } = await run(await engine.define(gated()), { amount: 'x'.repeat(13_000) });
    expect(data.status).toBe('paused');
    await close();
  }, 60_000);
});

describe('a credential without decisions', () => {
  const withheld = async () => {
    const ann = await addCaller(place());
    await engine.db.query(
      sql.unsafe`UPDATE api_keys SET decide = false WHERE member_id = ${ann.id}`,
    );
    return ann;
  };

  test('gets the gate with the address of its page, and no form', async () => {
    const { run, close } = await asking([], { headers: (await withheld()).headers });
    const { data, texts } = await run(await engine.define(gated()), { amount: 7 });
    expect(data.status).toBe('paused');
    expect(texts[1]).toBe(
      `A person decides here, not this credential:\nPayment: ${PUBLIC_URL}/approvals/${data.id}/review`,
    );
    await close();
  }, 60_000);

  test('can ask its person to open that page, which decides nothing, and waits for the decision', async () => {
    const ann = await withheld();
    const other = await addCaller(place());
    let runId = '';
    const { asked, run, close } = await asking(
      [
        async (question: Question) => {
          runId = /approvals\/(\w+)\//.exec((question as { url: string }).url)![1]!;
          expect((await engine.run(runId)).status).toBe('paused');
          await call('POST', `/api/runs/${runId}/approve`, { approved: true }, other.headers);
          return { action: 'accept' as const };
        },
      ] as never,
      { headers: ann.headers, offers: { form: {}, url: {} } },
    );
    const { data } = await run(await engine.define(gated()), { amount: 7 });
    expect(asked).toMatchObject([{ mode: 'url', message: expect.stringContaining('not here') }]);
    expect(data).toMatchObject({ id: runId, status: 'success' });
    const [entry] = await auditOf(runId, 'approve');
    expect([entry.actor_id, entry.details.elicited]).toEqual([other.id, undefined]);
    await close();
  }, 60_000);

  test('and a gate that needs members to sign in are never decided that way, not even in a session', async () => {
    const ann = await addCaller(place());
    const sessions = createSessionTokens(SECRET_KEY);
    const { token } = await sessions.issue({ memberId: ann.id, epoch: 1 });
    const headers = { authorization: `Bearer ${token}` };
    const { asked, run, close } = await asking([approve], {
      headers,
      offers: { form: {}, url: {} },
    });
    const { data, texts } = await run(await engine.define(gated({ signed_in: true })), {
      amount: 7,
    });
    const gate = await call('GET', `/api/runs/${data.id}/gates/review`, undefined, headers);
    expect(gate.body.can_decide).toBe(true);
    expect(asked).toMatchObject([{ mode: 'url' }]);
    expect(data.status).toBe('paused');
    expect(texts[1]).toContain(`/approvals/${data.id}/review`);
    await close();
  }, 60_000);
});

describe('the state between the rounds', () => {
  const meta = (elicitation: object | undefined) => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': elicitation === undefined ? {} : { elicitation },
  });
  const send = async (params: JsonObject, headers: Record<string, string> = {}) => {
    const response = await fetch(`${engine.url}/api/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'run_workflow',
        ...headers,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'run_workflow', _meta: meta({ form: {} }), ...params },
      }),
    });
    return ((await response.json()) as any).result;
  };
  const answered = { inputResponses: { decision: approve as never } };

  /** A call that was asked: its arguments, its state, and its run. */
  async function question(headers?: Record<string, string>, given: JsonObject = {}) {
    const workflow = await engine.define(gated(given));
    const args = { workflow, input: { amount: 7 }, wait_seconds: 20 };
    const { requestState, resultType } = await send({ arguments: args }, headers);
    expect(resultType).toBe('input_required');
    const { runs } = (await call('GET', `/api/runs?workflow_id=${workflow}`)).body;
    return { args, requestState: requestState as string, runId: runs[0].id as string };
  }
  const open = async (runId: string) => (await engine.run(runId)).status;
  const refused = (result: any) => [result.isError, result.content[0].text];
  const unknown =
    'This answer belongs to no question of this service to this member and credential. Nothing was decided';

  test('says nothing to the client', async () => {
    const { requestState, runId } = await question();
    const text = Buffer.from(requestState, 'base64url').toString('latin1') + requestState;
    expect(text).not.toContain(runId);
    expect(text).not.toContain('review');
  }, 60_000);

  test('counts once', async () => {
    const { args, requestState, runId } = await question();
    const again = { arguments: args, requestState, ...answered };
    expect((await send(again)).structuredContent).toMatchObject({ id: runId, status: 'success' });
    expect(refused(await send(again))).toEqual([
      true,
      "Gate 'review' has already been approved by Owner",
    ]);
    expect(await auditOf(runId, 'approve')).toHaveLength(1);
  }, 60_000);

  test('makes one decision of two answers at once', async () => {
    const { args, requestState, runId } = await question();
    const both = [approve, reject].map((decision) =>
      send({ arguments: args, requestState, inputResponses: { decision: decision as never } }),
    );
    const made = await Promise.all(both);
    expect(made.filter(({ isError }) => isError === true)).toHaveLength(1);
    const { logs } = (await call('GET', `/api/audit?target_id=${runId}`)).body;
    expect(logs.filter(({ action }: any) => /^(approve|reject)$/.test(action))).toHaveLength(1);
  }, 60_000);

  test.each(['', 'x', 's1.00000000.AAAA'])(
    'is refused if it is forged (%j)',
    async (forged) => {
      const { args, runId } = await question();
      const result = await send({ arguments: args, requestState: forged, ...answered });
      expect(refused(result)).toEqual([true, unknown]);
      expect(await open(runId)).toBe('paused');
    },
    60_000,
  );

  test('is refused if a byte is changed, or it was sealed for another purpose', async () => {
    const { args, requestState, runId } = await question();
    const at = requestState.length - 20;
    const other = requestState[at] === 'A' ? 'B' : 'A';
    const flipped = requestState.slice(0, at) + other + requestState.slice(at + 1);
    const elsewhere = createSealer({ encryptionKey: ENCRYPTION_KEY })!.seal('{}', 'secret x');
    for (const state of [flipped, elsewhere]) {
      const result = await send({ arguments: args, requestState: state, ...answered });
      expect(refused(result)).toEqual([true, unknown]);
    }
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('is refused for another member, and for another credential of the same member', async () => {
    const [ann, ben] = [await addCaller(place()), await addCaller(place())];
    const { args, requestState, runId } = await question(ann.headers);
    const { secret } = (await call('POST', '/api/keys', { name: 'Second', member_id: ann.id }))
      .body;
    for (const headers of [ben.headers, { 'x-api-key': secret as string }, {}]) {
      const result = await send({ arguments: args, requestState, ...answered }, headers);
      expect(refused(result)).toEqual([true, unknown]);
    }
    expect(await open(runId)).toBe('paused');
    const own = await send({ arguments: args, requestState, ...answered }, ann.headers);
    expect(own.structuredContent.status).toBe('success');
  }, 60_000);

  test('is refused with other arguments', async () => {
    const { args, requestState, runId } = await question();
    const changed = { ...args, input: { amount: 1_000 } };
    expect(refused(await send({ arguments: changed, requestState, ...answered }))).toEqual([
      true,
      'This answer is for a call with other arguments: repeat the call as it was, with the answer',
    ]);
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('is refused after ten minutes', async () => {
    const { args, requestState, runId } = await question();
    const realNow = Date.now;
    try {
      Date.now = () => realNow() + 11 * 60_000;
      const [isError, text] = refused(await send({ arguments: args, requestState, ...answered }));
      expect([isError, text]).toEqual([true, expect.stringContaining('This answer came too late')]);
    } finally {
      Date.now = realNow;
    }
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('is refused when the gate has opened again, or shows something else', async () => {
    const { args, requestState, runId } = await question();
    await engine.db.query(
      sql.unsafe`UPDATE gates SET opened_at = opened_at + interval '1 second' WHERE run_id = ${runId}`,
    );
    expect(refused(await send({ arguments: args, requestState, ...answered }))).toEqual([
      true,
      "Gate 'review' is no longer open as the question showed it: read the run",
    ]);
    await engine.db.query(sql.unsafe`
      UPDATE gates SET opened_at = opened_at - interval '1 second', digest = 'sha256:other'
      WHERE run_id = ${runId}`);
    const asksAgain = await send({ arguments: args, requestState, ...answered });
    expect(asksAgain).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        decision: {
          params: { message: expect.stringMatching(/^With this answer something else/) },
        },
      },
    });
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('does not help who has lost the permission, or whose key no longer decides', async () => {
    const ann = await addCaller(place());
    const { args, requestState, runId } = await question(ann.headers);
    const again = { arguments: args, requestState, ...answered };
    await engine.db.query(
      sql.unsafe`UPDATE api_keys SET decide = false WHERE member_id = ${ann.id}`,
    );
    expect(refused(await send(again, ann.headers))).toEqual([
      true,
      "This action requires the 'approve_gates' permission",
    ]);
    await engine.db.query(
      sql.unsafe`UPDATE api_keys SET decide = true WHERE member_id = ${ann.id}`,
    );
    await engine.db.query(
      sql.unsafe`UPDATE members SET overrides = '{"approve_gates": false}' WHERE id = ${ann.id}`,
    );
    expect((await send(again, ann.headers)).isError).toBe(true);
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('needs an answer with a decision', async () => {
    const { args, requestState, runId } = await question();
    const without = await send({ arguments: args, requestState });
    expect(refused(without)).toEqual([true, "The call has no answer to its question 'decision'"]);
    const inputResponses = { decision: { action: 'accept', content: { decision: 'yes' } } };
    expect(refused(await send({ arguments: args, requestState, inputResponses }))).toEqual([
      true,
      "The answer has no decision: 'approve' or 'reject'",
    ]);
    expect(await open(runId)).toBe('paused');
  }, 60_000);

  test('asks at most eight times in one call', async () => {
    const { args, requestState, runId } = await question(undefined, { input_schema: form });
    const inputResponses = { decision: accept({ decision: 'approve' }) as never };
    let state = requestState as string;
    let rounds = 1;
    for (;;) {
      const next = await send({ arguments: args, requestState: state, inputResponses });
      if (next.resultType !== 'input_required') {
        expect(refused(next)).toEqual([true, expect.stringContaining('Invalid input')]);
        break;
      }
      rounds += 1;
      state = next.requestState;
    }
    expect(rounds).toBe(8);
    expect(await open(runId)).toBe('paused');
  }, 60_000);
});
