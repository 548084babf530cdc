import { beforeAll, describe, expect, test } from '@jest/globals';
import { addMember } from '#test/support/people.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { draftAt, draftCalls, graphOf, ifMatch } from './draft-calls.ts';

const api = useTestApi();
let calls: ReturnType<typeof draftCalls>;
beforeAll(async () => {
  calls = draftCalls(api);
});

describe('publishing from a draft', () => {
  test('makes it the current version, with author and note, and removes it', async () => {
    const { id } = await calls.create();
    const writer = await addMember(api, { role: 'editor', name: 'Wren' });
    const { etag } = (await calls.save(id, { graph: graphOf('a') }, writer.headers)).body;
    const note = 'Asks before it answers';
    const { status, body, headers } = await calls.publish(id, etag, { note });
    expect([status, body]).toMatchObject([
      200,
      { id, status: 'published', version: 2, graph: graphOf('a') },
    ]);
    expect(headers['etag']).toBe(`"${body.etag}"`);
    expect((await api.call('GET', draftAt(id))).status).toBe(404);
    const { versions } = (await api.call('GET', `/api/workflows/${id}/versions`)).body;
    expect(versions).toMatchObject([
      { version: 2, created_by: writer.id, created_by_name: 'Wren', note },
      { version: 1, created_by_name: 'Owner', note: null },
    ]);
    expect((await api.call('GET', `/api/workflows/${id}/versions/2`)).body).toMatchObject({
      note,
      created_by: writer.id,
      created_by_name: 'Wren',
    });
    expect((await calls.auditOf(id)).at(-1)).toEqual({
      action: 'publish_draft',
      actor_name: 'Owner',
      details: {
        ...{ version: 2, base_version: 1, revision: 1, author: 'Wren', author_id: writer.id },
        ...{ changed: ['graph'], note },
      },
    });
  });

  test('without a difference publishes the current version', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, {})).body;
    const { body } = await calls.publish(id, etag);
    expect(body).toMatchObject({ status: 'published', version: 1 });
    expect((await api.call('GET', draftAt(id))).status).toBe(404);
  });

  test('needs a draft', async () => {
    const { id } = await calls.create();
    const answer = await api.call('POST', `/api/workflows/${id}/publish`, { from_draft: true });
    expect([answer.status, answer.body]).toEqual([
      404,
      {
        detail: `Draft not found: save one with PUT ${draftAt(id)}, or leave out from_draft`,
      },
    ]);
  });

  test('needs a draft of the current version, or one that is explicitly based on an older one', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('mine') })).body;
    await api.call('PUT', `/api/workflows/${id}`, { graph: graphOf('theirs') });
    const refused = await calls.publish(id, etag);
    expect([refused.status, refused.body]).toEqual([
      412,
      {
        detail:
          'The draft began at version 1, and version 2 is current now: compare them, and save the draft with ' +
          'base_version 2 to publish it on top',
        current: await calls.currentOf(id),
      },
    ]);
    const moved = (await calls.save(id, { base_version: 2 }, ifMatch(etag))).body;
    expect(moved).toMatchObject({ base_version: 2, revision: 2, graph: graphOf('mine') });
    expect((await calls.publish(id, moved.etag)).body).toMatchObject({
      version: 3,
      graph: graphOf('mine'),
    });
  });

  test('needs a graph that can run, and names each problem with its path', async () => {
    const { id } = await calls.create();
    const graph = {
      nodes: [{ id: 'a', kind: 'condition', expression: '1 +' }],
      edges: [{ source: 'a', target: 'b' }],
    };
    const { etag } = (await calls.save(id, { graph })).body;
    const { status, body } = await calls.publish(id, etag);
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^The draft cannot run: /);
    expect(body.detail).toContain('nodes[0].expression: ');
    expect(body.detail).toContain('edges[0]');
    expect(await calls.currentOf(id)).toMatchObject({ version: 1, status: 'draft' });
    expect((await api.call('GET', draftAt(id))).body.etag).toBe(etag);
  });

  test('refuses a note that is too long, empty, or without a draft to publish', async () => {
    const { id } = await calls.create();
    const { etag } = (await calls.save(id, { graph: graphOf('a') })).body;
    for (const body of [{ note: 'x'.repeat(1_001) }, { note: '  ' }, { from_draft: false }]) {
      const { status } = await calls.publish(id, etag, body);
      expect([body, status]).toEqual([body, 400]);
    }
    const alone = await api.call('POST', `/api/workflows/${id}/publish`, { note: 'x' });
    expect([alone.status, alone.body.detail]).toEqual([
      400,
      'Invalid body: note belongs to a version that is published from a draft: add from_draft',
    ]);
    expect((await calls.publish(id, etag, { note: 'x'.repeat(1_000) })).status).toBe(200);
  });

  test('requires permission to publish, and to run automatic triggers; anyone who can edit can save', async () => {
    const { id } = await calls.create();
    await api.call('POST', `/api/workflows/${id}/publish`);
    const overrides = { publish_workflows: false };
    const editor = await addMember(api, { role: 'editor', overrides });
    const { etag } = (await calls.save(id, { graph: graphOf('a') }, editor.headers)).body;
    const body = { from_draft: true };
    const by = (headers: Record<string, string>) =>
      api.call('POST', `/api/workflows/${id}/publish`, body, { ...headers, ...ifMatch(etag) });
    const refused = (capability: string) => ({
      status: 403,
      body: { detail: `This action requires the '${capability}' permission` },
    });
    expect(await by(editor.headers)).toMatchObject(refused('publish_workflows'));
    await api.call('POST', `/api/workflows/${id}/webhook`);
    const other = { publish_workflows: true, run_workflows: false };
    const publisher = await addMember(api, { role: 'editor', overrides: other });
    expect(await by(publisher.headers)).toMatchObject(refused('run_workflows'));
    expect(await calls.currentOf(id)).toMatchObject({ version: 1 });
    const viewer = await addMember(api, { role: 'viewer' });
    expect((await api.call('GET', draftAt(id), undefined, viewer.headers)).status).toBe(200);
    expect(await calls.save(id, { graph: graphOf('b') }, viewer.headers)).toMatchObject(
      refused('create_edit_workflows'),
    );
    expect((await calls.publish(id, etag)).status).toBe(200);
  });

  test('does not affect a publication without a draft', async () => {
    const { id } = await calls.create();
    await calls.save(id, { graph: graphOf('a') });
    for (const body of [undefined, {}]) {
      const answer = await api.call('POST', `/api/workflows/${id}/publish`, body);
      expect(answer.body).toMatchObject({ status: 'published', version: 1, graph: graphOf('v1') });
    }
    expect((await api.call('GET', draftAt(id))).status).toBe(200);
  });
});
