import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { endAuthorizations } from '#shared/operations/bookkeeping.ts';
import { eventually } from '#test/support/engine.ts';
import { type Person, useAuthorizations } from './authorization-stage.ts';

const stage = useAuthorizations();

const list = async (person: Person, query = '') =>
  stage.send('GET', `/api/authorizations${query}`, undefined, person.session);
const revoke = async (id: string, headers: Record<string, string>) =>
  (await stage.send('DELETE', `/api/authorizations/${id}`, undefined, headers)).status;
const works = async (token: string) => (await stage.callTool(token, 'get_usage')).status === 200;
const count = (table: string): Promise<number> =>
  stage.engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([table])}`);

describe('the list of authorizations', () => {
  test('has the client, what it can do, and when it was last used', async () => {
    const person = await stage.person('editor');
    const { access, clientId } = await stage.tokensFor(person, 'view run');
    const [fresh] = (await list(person)).body;
    expect(fresh).toEqual({
      id: expect.stringMatching(/^auth_/),
      client_id: clientId,
      client_name: 'Test client',
      client_host: '127.0.0.1:41999',
      client_verified: false,
      member_id: person.id,
      member_name: expect.any(String),
      scopes: ['view', 'run'],
      capabilities: ['view', 'run_workflows', 'cancel_resume'],
      created_at: expect.any(String),
      last_used_at: null,
    });
    await works(access);
    await eventually(async () => (await list(person)).body[0].last_used_at !== null);
  });

  test('is that of the member; of all members only with manage_api_keys', async () => {
    const [admin, editor, other] = [
      await stage.person('admin'),
      await stage.person('editor'),
      await stage.person('viewer'),
    ];
    await stage.tokensFor(editor);
    await stage.tokensFor(other);
    expect((await list(editor)).body).toHaveLength(1);
    expect((await list(admin)).body).toEqual([]);
    const all = (await list(admin, '?of=workspace')).body;
    const members = new Set(all.map(({ member_id: id }: { member_id: string }) => id));
    expect([members.has(editor.id), members.has(other.id)]).toEqual([true, true]);
    expect((await list(editor, '?of=workspace')).status).toBe(403);
    expect(
      (await stage.send('GET', '/api/authorizations', undefined, editor.key)).body,
    ).toHaveLength(1);
  });

  test('leaves out what has ended', async () => {
    const person = await stage.person();
    await stage.tokensFor(person);
    await stage.engine.db.query(sql.unsafe`
      UPDATE authorization_tokens SET expires_at = now();`);
    await stage.engine.db.query(sql.unsafe`UPDATE authorization_codes SET expires_at = now()`);
    expect((await list(person)).body).toEqual([]);
  });
});

describe('a revocation', () => {
  test('ends all tokens of the client at once, and only those', async () => {
    const person = await stage.person();
    const [one, other] = [await stage.tokensFor(person), await stage.tokensFor(person)];
    const { body } = await list(person);
    const { id } = body.find(({ client_id }: { client_id: string }) => client_id === one.clientId);
    expect(await revoke(id, person.session)).toBe(204);
    expect([await works(one.access), await works(other.access)]).toEqual([false, true]);
    const refresh = await stage.post('/api/oauth/token', {
      ...{ grant_type: 'refresh_token', refresh_token: one.refresh, client_id: one.clientId },
    });
    expect(refresh.body.error).toBe('invalid_grant');
    expect(await revoke(id, person.session)).toBe(404);
    const entries = await stage.send(
      'GET',
      `/api/audit?target_id=${id}`,
      undefined,
      person.session,
    );
    expect(entries.body.logs.map(({ action }: { action: string }) => action)).toEqual([
      'authorization_revoke',
      'authorize',
    ]);
  });

  test('of another member needs manage_api_keys, and no less than the client can do', async () => {
    const { engine } = stage;
    const [admin, editor, weaker] = [
      await stage.person('admin'),
      await stage.person('editor'),
      await stage.person('admin', { run_workflows: false }),
    ];
    const { access } = await stage.tokensFor(editor, 'view run');
    const [{ id }] = (await list(editor)).body;
    const elsewhere = newId('workspace');
    await engine.db.query(
      sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${elsewhere}, 'Other')`,
    );
    const foreign = await stage.person('admin', {}, elsewhere);
    expect(await revoke(id, foreign.session)).toBe(404);
    expect(await revoke(id, (await stage.person('editor')).session)).toBe(403);
    expect(await revoke(id, weaker.session)).toBe(403);
    expect(await works(access)).toBe(true);
    expect(await revoke(id, admin.session)).toBe(204);
    expect(await works(access)).toBe(false);
  });

  test('while the client refreshes leaves no token that works', async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = await stage.person();
      const tokens = await stage.tokensFor(person);
      const [{ id }] = (await list(person)).body;
      const form = { refresh_token: tokens.refresh, client_id: tokens.clientId };
      const [refreshed] = await Promise.all([
        stage.post('/api/oauth/token', { grant_type: 'refresh_token', ...form }),
        revoke(id, person.session),
      ]);
      expect([200, 400]).toContain(refreshed.status);
      expect(await works(refreshed.body.access_token ?? tokens.access)).toBe(false);
    }
  });
});

test('the cleanup deletes ended codes, tokens, authorizations and clients, and nothing else', async () => {
  const { db } = stage.engine;
  const person = await stage.person();
  const kept = await stage.tokensFor(person);
  const ended = await stage.tokensFor(person);
  const unused = await stage.register();
  const { body } = await list(person);
  const idOf = (clientId: string) =>
    body.find(({ client_id }: { client_id: string }) => client_id === clientId).id as string;
  await db.query(sql.unsafe`
    UPDATE authorization_tokens SET expires_at = now() - interval '1 second'
    WHERE authorization_id = ${idOf(ended.clientId)}`);
  await db.query(sql.unsafe`
    UPDATE authorization_codes SET expires_at = now() - interval '2 hours'`);
  await db.query(sql.unsafe`
    UPDATE authorizations SET created_at = now() - interval '2 hours' WHERE member_id = ${person.id}`);
  await db.query(sql.unsafe`
    UPDATE oauth_clients SET created_at = now() - interval '25 hours' WHERE id = ${unused}`);
  await db.query(sql.unsafe`
    UPDATE oauth_clients SET used_at = now() - interval '1 year' WHERE id IN (${kept.clientId}, ${ended.clientId})`);
  await endAuthorizations({ db });
  expect(await count('authorization_codes')).toBe(0);
  const found = async (table: string, id: string) =>
    db.exists(sql.unsafe`SELECT FROM ${sql.identifier([table])} WHERE id = ${id}`);
  expect(await found('authorizations', idOf(kept.clientId))).toBe(true);
  expect(await found('authorizations', idOf(ended.clientId))).toBe(false);
  expect(await found('oauth_clients', kept.clientId)).toBe(true);
  expect(await found('oauth_clients', ended.clientId)).toBe(false);
  expect(await found('oauth_clients', unused)).toBe(false);
  expect(await works(kept.access)).toBe(true);
});
