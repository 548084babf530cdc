import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { draftCalls, graphOf, ifMatch } from './draft-calls.ts';

let api: TestApi;
let calls: ReturnType<typeof draftCalls>;
beforeAll(async () => {
  api = await startTestApi();
  calls = draftCalls(api);
});
afterAll(async () => api.stop());

const start = (id: string, input: object, headers: Record<string, string> = {}, draft = 'true') =>
  api.call('POST', `/api/workflows/${id}/runs?draft=${draft}`, input, headers);

describe('a run of a draft', () => {
  test('has the graph of the draft, and the version that is current', async () => {
    const { id } = await calls.create();
    await calls.save(id, { graph: graphOf('drawn') });
    const { status, body, headers } = await start(id, { ticket: 'tea' });
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/runs/${body.id}`);
    expect(body).toMatchObject({
      of_draft: true,
      mode: null,
      trigger: 'manual',
      workflow_version: 1,
      input: { ticket: 'tea' },
      graph: { nodes: [{ id: 'drawn' }] },
    });
    expect((await calls.auditOf(id)).at(-1)).toMatchObject({
      action: 'run',
      details: { run_id: body.id, trigger: 'manual', draft_revision: 1 },
    });
    const plain = (await start(id, {}, {}, 'false')).body;
    expect(plain).toMatchObject({ of_draft: false });
    expect(plain).not.toHaveProperty('graph');
  });

  test('is refused without a draft, and where the draft cannot run', async () => {
    const { id } = await calls.create();
    const none = await start(id, {});
    expect([none.status, none.body.detail]).toEqual([404, 'Draft not found']);
    expect((await start('wf_unknown', {})).body.detail).toBe('Workflow not found');
    await calls.save(id, { graph: { nodes: [{ id: 'a', kind: 'wizard' }], edges: [] } });
    const broken = await start(id, {});
    expect([broken.status, broken.body.detail]).toEqual([
      400,
      expect.stringMatching(/^Workflow graph invalid: /),
    ]);
    const odd = await start(id, {}, {}, 'maybe');
    expect(odd.status).toBe(400);
  });

  test('needs an input that fits the schema of the draft', async () => {
    const { id } = await calls.create();
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await calls.save(id, { graph: graphOf('drawn'), input_schema: schema });
    expect((await start(id, {}, {}, 'false')).status).toBe(201);
    const refused = await start(id, { n: 'one' });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('n')]);
    expect((await start(id, { n: 1 })).status).toBe(201);
  });

  test('is started once by a key, which a run of the version does not share', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('drawn') })).body;
    const key = { 'idempotency-key': 'once' };
    const first = await start(id, { n: 1 }, key);
    const again = await start(id, { n: 1 }, key);
    expect([again.status, again.headers['idempotent-replayed'], again.body.id]).toEqual([
      200,
      'true',
      first.body.id,
    ]);
    const version = await start(id, { n: 1 }, key, 'false');
    expect([version.status, version.body.of_draft]).toEqual([201, false]);
    // Another draft is another request.
    await calls.save(id, { graph: graphOf('other') }, ifMatch(etag));
    expect((await start(id, { n: 1 }, key)).status).toBe(422);
  });
});
