import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { draftAt, draftCalls, graphOf, ifMatch } from './draft-calls.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi();
let calls: ReturnType<typeof draftCalls>;
beforeAll(async () => {
  calls = draftCalls(api);
});

const schemaOf = (field: string) => ({
  type: 'object',
  properties: { [field]: { type: 'string' } },
});

describe('a draft', () => {
  test('is created by the first save, alongside the current version', async () => {
    const { id } = await calls.create({ input_schema: schemaOf('ticket') });
    const saved = await calls.save(id, { graph: graphOf('next') });
    expect(saved.status).toBe(201);
    expect(saved.headers['location']).toBe(draftAt(id));
    expect(saved.body).toEqual({
      workflow_id: id,
      base_version: 1,
      revision: 1,
      graph: graphOf('next'),
      input_schema: schemaOf('ticket'),
      created_at: expect.stringMatching(/Z$/),
      saved_by: expect.stringMatching(/^mem_/),
      saved_by_name: 'Owner',
      saved_at: expect.stringMatching(/Z$/),
      etag: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(saved.headers['etag']).toBe(`"${saved.body.etag}"`);
    const read = await api.call('GET', draftAt(id));
    expect([read.status, read.body, read.headers['etag']]).toEqual([
      200,
      saved.body,
      saved.headers['etag'],
    ]);
    const workflow = await calls.currentOf(id);
    expect(workflow).toMatchObject({ version: 1, graph: graphOf('v1'), has_draft: true });
    const withDraft = `/api/workflows/${id}?include=draft`;
    const both = await api.call('GET', withDraft);
    expect(both.body).toEqual({ ...workflow, draft: saved.body });
    expect(both.headers['etag']).toBe(`"${workflow.etag}"`);
    await api.call('DELETE', draftAt(id), undefined, ifMatch(saved.body.etag));
    expect((await api.call('GET', withDraft)).body.draft).toBeNull();
    expect((await api.call('GET', `/api/workflows/${id}?include=stats`)).status).toBe(400);
    // A draft is no edit of the workflow.
    expect(await calls.currentOf(id)).toEqual({ ...workflow, has_draft: false });
  });

  test('keeps what a save omits, and its revision when nothing changes', async () => {
    const { id } = await calls.create();
    const first = (await calls.save(id, { graph: graphOf('a'), input_schema: schemaOf('x') })).body;
    const second = await calls.save(id, { graph: graphOf('b') }, ifMatch(first.etag));
    expect(second.body).toMatchObject({ revision: 2, input_schema: schemaOf('x') });
    // The response to the second save was lost: its caller repeats it with the tag it knows.
    const again = await calls.save(
      id,
      { graph: { edges: [], nodes: graphOf('b').nodes } },
      ifMatch(first.etag),
    );
    expect([again.status, again.body]).toEqual([200, second.body]);
    const cleared = await calls.save(id, { input_schema: null }, ifMatch(second.body.etag));
    expect(cleared.body).toMatchObject({ revision: 3, input_schema: null, graph: graphOf('b') });
    expect(
      (await calls.auditOf(id)).map(({ action, details }) => [action, details.revision]),
    ).toEqual([
      ['create', undefined],
      ['save_draft', 1],
      ['save_draft', 2],
      ['save_draft', 3],
    ]);
  });

  test('can be an invalid graph, but not have an invalid input schema', async () => {
    const { id } = await calls.create();
    const graph = { nodes: [{ id: 'a', kind: 'wizard' }], edges: [{ source: 'a', target: 'b' }] };
    expect((await calls.save(id, { graph })).body.graph).toEqual(graph);
    const refused = await calls.save(id, { input_schema: { type: 'nonsense' } });
    expectRefusal(refused, 400, expect.stringMatching(/^Invalid body: input_schema /));
  });

  test('is only changed and discarded with the tag of the latest revision', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('a') })).body;
    const required =
      'Changing, discarding or publishing a draft requires the header If-Match: send the ETag of ' +
      `GET ${draftAt(id)}`;
    for (const answer of [
      await calls.save(id, { graph: graphOf('b') }),
      await api.call('DELETE', draftAt(id)),
      await api.call('POST', `/api/workflows/${id}/publish`, { from_draft: true }),
    ]) {
      expect([answer.status, answer.body]).toEqual([428, { detail: required }]);
    }
    const changed = (await calls.save(id, { graph: graphOf('b') }, ifMatch(etag))).body;
    for (const answer of [
      await calls.save(id, { graph: graphOf('c') }, ifMatch(etag)),
      await calls.save(id, { graph: graphOf('c') }, { 'if-match': `W/"${changed.etag}"` }),
      await api.call('DELETE', draftAt(id), undefined, ifMatch(etag)),
      await calls.publish(id, etag),
    ]) {
      expect([answer.status, answer.body]).toEqual([
        412,
        { detail: expect.stringContaining('has changed since you read it'), current: changed },
      ]);
    }
    for (const malformed of [changed.etag, '', '*, "a"', '"a" "b"', ', ,', '"a']) {
      const answer = await calls.save(id, { graph: graphOf('c') }, { 'if-match': malformed });
      expect([malformed, answer.status, answer.body.detail]).toEqual([
        malformed,
        400,
        'Invalid header: if-match must be * or entity tags in double quotes, as the header ETag has them',
      ]);
    }
    const several = { 'if-match': `"x" , W/"y",, "${changed.etag}"` };
    expect((await calls.save(id, { graph: graphOf('c') }, several)).status).toBe(200);
    expect((await calls.save(id, { graph: graphOf('d') }, { 'if-match': '*' })).body.revision).toBe(
      4,
    );
    expect((await api.call('DELETE', draftAt(id), undefined, { 'if-match': '*' })).status).toBe(
      204,
    );
    expect((await calls.auditOf(id)).at(-1)).toMatchObject({
      action: 'discard_draft',
      details: { base_version: 1, revision: 4, author: 'Owner' },
    });
  });

  test('that was deleted is not created again with its old tag', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('a') })).body;
    await api.call('DELETE', draftAt(id), undefined, ifMatch(etag));
    for (const headers of [ifMatch(etag), { 'if-match': '*' }]) {
      for (const answer of [
        await calls.save(id, { graph: graphOf('b') }, headers),
        await api.call('DELETE', draftAt(id), undefined, headers),
      ]) {
        expect([answer.status, answer.body]).toEqual([
          412,
          { detail: expect.stringMatching(/^The draft that you read is gone/), current: null },
        ]);
      }
    }
    const published = await calls.publish(id, etag);
    expect([published.status, published.body.current]).toEqual([412, await calls.currentOf(id)]);
    expect((await api.call('GET', draftAt(id))).body).toEqual({ detail: 'Draft not found' });
  });

  test('has a different tag than an earlier draft with the same revision', async () => {
    const { id } = await calls.create();
    const first = (await calls.save(id, { graph: graphOf('a') })).body;
    await api.call('DELETE', draftAt(id), undefined, ifMatch(first.etag));
    const second = (await calls.save(id, { graph: graphOf('b') })).body;
    expect(second.revision).toBe(first.revision);
    expect((await calls.publish(id, first.etag)).status).toBe(412);
  });

  test('of an unknown or deleted workflow is 404, and is deleted with its workflow', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('a') })).body;
    expect((await api.call('DELETE', `/api/workflows/${id}`)).status).toBe(204);
    for (const gone of [id, 'wf_unknown']) {
      for (const answer of [
        await api.call('GET', draftAt(gone)),
        await calls.save(gone, { graph: graphOf('b') }),
        await calls.save(gone, { graph: graphOf('b') }, ifMatch(etag)),
        await api.call('DELETE', draftAt(gone), undefined, ifMatch(etag)),
        await calls.publish(gone, etag),
      ]) {
        expect([answer.status, answer.body]).toEqual([404, { detail: 'Workflow not found' }]);
      }
    }
    const rows = await api.db.any(
      sql.unsafe`SELECT FROM workflow_drafts WHERE workflow_id = ${id}`,
    );
    expect(rows).toHaveLength(0);
  });

  test('of a version that does not exist is refused', async () => {
    const { id } = await calls.create();
    const answer = await calls.save(id, { graph: graphOf('a'), base_version: 2 });
    expectRefusal(answer, 400, 'Invalid body: base_version must be at most 1, the current version');
  });
});

test('a workflow with a draft validates and runs its current version', async () => {
  const { id } = await calls.create({ graph: oneStep });
  await calls.save(id, { graph: { nodes: [{ id: 'x', kind: 'wizard' }], edges: [] } });
  expect((await api.call('POST', `/api/workflows/${id}/validate`)).body.valid).toBe(true);
  expect((await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' })).status).toBe(201);
  expect(await calls.currentOf(id)).toMatchObject({ graph: oneStep });
});

const start = (id: string, input: object, headers: Record<string, string> = {}, draft = 'true') =>
  api.call('POST', `/api/workflows/${id}/runs?draft=${draft}`, input, headers);

describe('a run of a draft', () => {
  test("has the graph of the draft, and the current version's number", async () => {
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

  test('is refused if there is no draft, or the draft cannot run', async () => {
    const { id } = await calls.create();
    const none = await start(id, {});
    expect([none.status, none.body.detail]).toEqual([404, 'Draft not found']);
    expect((await start('wf_unknown', {})).body.detail).toBe('Workflow not found');
    await calls.save(id, { graph: { nodes: [{ id: 'a', kind: 'wizard' }], edges: [] } });
    const broken = await start(id, {});
    expectRefusal(broken, 400, expect.stringMatching(/^Workflow graph invalid: /));
    const odd = await start(id, {}, {}, 'maybe');
    expect(odd.status).toBe(400);
  });

  test("needs an input that matches the draft's schema", async () => {
    const { id } = await calls.create();
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await calls.save(id, { graph: graphOf('drawn'), input_schema: schema });
    expect((await start(id, {}, {}, 'false')).status).toBe(201);
    const refused = await start(id, { n: 'one' });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('n')]);
    expect((await start(id, { n: 1 })).status).toBe(201);
  });

  test('is started once per key, which a run of the version does not share', async () => {
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
