import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { capabilities, heldCapabilities, type Role, roles } from '#shared/people/capabilities.ts';
import { sql, type Tx } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { newApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { eventually } from '#test/support/engine.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { type Answer, startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const SECRET_KEY = 'signs the sessions of this file';

let api: TestApi;
/** Another process of the same service. */
let other: Awaited<ReturnType<TestApi['another']>>;
/** The same service in required mode, with its log captured. */
let closed: App;
let logged = '';
beforeAll(async () => {
  api = await startTestApi({ SECRET_KEY });
  other = await api.another();
  const log = createLogger(
    { name: 'test', level: 'trace' },
    { write: (line) => void (logged += line) },
  );
  const required = { ...api.config, auth: { ...api.config.auth, mode: 'required' as const } };
  closed = buildApp({ ...api, log, config: required, findRunnable });
  await closed.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await closed.close();
  await other.app.close();
  await api.stop();
});

interface MadeKey {
  id: string;
  name: string;
  prefix: string;
  secret: string;
}

const run = (statement: ReturnType<typeof sql.fragment>, on: Tx | TestApi['db'] = api.db) =>
  on.query(sql.unsafe`${statement}`);
const count = (statement: ReturnType<typeof sql.fragment>): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n ${statement}`);

const addMember = async (
  role: Role,
  { workspaceId = api.workspaceId, status = 'active', overrides = {} } = {},
): Promise<string> => {
  const id = newId('member');
  const invited = status === 'invited';
  await run(sql.fragment`
    INSERT INTO members (id, workspace_id, name, email, role, status, overrides, invite_code_hash, invite_expires_at)
    VALUES (${id}, ${workspaceId}, ${`Member ${role}`}, ${`${id}@example.com`}, ${role}, ${status},
            ${JSON.stringify(overrides)}::jsonb, CASE WHEN ${invited} THEN sha256(${id}::bytea) END,
            CASE WHEN ${invited} THEN now() END)
  `);
  return id;
};
const sessionOf = async (memberId: string) => {
  const { token } = await createSessionTokens(SECRET_KEY).issue({ memberId, epoch: 1 });
  return { authorization: `Bearer ${token}` };
};
const addWorkspace = async (): Promise<string> => {
  const id = newId('workspace');
  await run(sql.fragment`INSERT INTO workspaces (id, name) VALUES (${id}, 'Other')`);
  return id;
};

const post = (body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  api.call('POST', '/api/keys', body, headers);
const make = async (body: object): Promise<MadeKey> => {
  const answer = await post({ name: 'K', ...body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const list = async (query = ''): Promise<any[]> =>
  (await api.call('GET', `/api/keys${query}`)).body;
const listed = async (id: string) => (await list()).find((key) => key.id === id);
const by = ({ secret }: MadeKey) => ({ 'x-api-key': secret });
const me = (key: MadeKey, call = api.call) => call('GET', '/api/auth/me', undefined, by(key));
const statuses = async (key: MadeKey) => [
  (await me(key)).status,
  (await me(key, other.call)).status,
];
const audit = async (keyId: string): Promise<any[]> =>
  (await api.call('GET', '/api/audit?limit=200')).body.logs.filter(
    (entry: { target_id: string }) => entry.target_id === keyId,
  );

describe('a key', () => {
  test.each(roles)('without a member has the capabilities of its role: %s', async (role) => {
    const { body } = await me(await make({ name: 'Nightly', role }));
    expect(body).toEqual({
      id: null,
      name: 'Nightly',
      email: null,
      role,
      workspace_id: api.workspaceId,
      credential: 'api_key',
      capabilities: heldCapabilities(role, {}),
    });
  });

  test('is returned in full on creation, and listed without its secret', async () => {
    const { status, body } = await post({ name: '  Nightly ', role: 'editor' });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
        name: 'Nightly',
        prefix: body.secret.slice(0, 12),
        role: 'editor',
        member_id: null,
        decide: true,
        revoked: false,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        last_used_at: null,
        etag: expect.any(String),
        secret: expect.stringMatching(/^ops_[0-9a-z]{48}$/),
      },
    ]);
    const { secret: _secret, ...shown } = body;
    expect((await list())[0]).toEqual(shown);
  });

  test('is listed newest first, page by page', async () => {
    const made: string[] = [];
    for (let i = 0; i < 3; i += 1) made.unshift((await make({ role: 'viewer' })).id);
    const ids = async (query: string) => (await list(query)).map((key) => key.id);
    expect(await ids('?limit=3')).toEqual(made);
    expect(await ids('?limit=1&offset=2')).toEqual([made[2]]);
    expect(await ids('?offset=100000')).toEqual([]);
  });

  test('is refused on invalid input, with the reason', async () => {
    const theirs = await addMember('viewer', { workspaceId: await addWorkspace() });
    const refusals: [object, number, string][] = [
      [{ name: 'x' }, 400, 'Invalid body: role is required without member_id'],
      [{ name: 'x', member_id: null }, 400, 'Invalid body: role is required without member_id'],
      [{ name: 'x', member_id: newId('member') }, 404, 'Member not found'],
      [{ name: 'x', member_id: theirs }, 404, 'Member not found'],
      [
        { name: 'x', member_id: await addMember('viewer', { status: 'pending' }) },
        400,
        'Invalid body: member_id is of a member who is pending',
      ],
      [
        { name: 'x', member_id: await addMember('viewer', { status: 'invited' }) },
        400,
        'Invalid body: member_id is of a member who is invited',
      ],
    ];
    const before = await count(sql.fragment`FROM api_keys`);
    for (const [body, status, detail] of refusals) {
      const answer = await post(body);
      expect([body, answer.status, answer.body]).toEqual([body, status, { detail }]);
    }
    expect(await count(sql.fragment`FROM api_keys`)).toBe(before);
  });
});

describe('creating a key', () => {
  const beyond = (capability: string) => ({
    detail: `This action requires the '${capability}' permission`,
  });

  test('grants no more than the caller holds', async () => {
    const keeper = await sessionOf(
      await addMember('editor', { overrides: { manage_api_keys: true, run_workflows: false } }),
    );
    const before = await count(sql.fragment`FROM api_keys`);
    const attempts: [object, string][] = [
      [{ role: 'admin' }, 'run_workflows'],
      [{ role: 'editor' }, 'run_workflows'],
      [
        { member_id: await addMember('viewer', { overrides: { manage_workspace: true } }) },
        'manage_workspace',
      ],
      [{ member_id: await addMember('admin') }, 'run_workflows'],
    ];
    for (const [body, capability] of attempts) {
      const answer = await post({ name: 'x', ...body }, keeper);
      expect([body, answer.status, answer.body]).toEqual([body, 403, beyond(capability)]);
    }
    expect(await count(sql.fragment`FROM api_keys`)).toBe(before);

    const within = Object.fromEntries(
      Object.keys(capabilities).map((name) => [name, name === 'view' || name === 'approve_gates']),
    );
    const restricted = await addMember('admin', { overrides: within });
    expect((await post({ name: 'x', role: 'viewer' }, keeper)).status).toBe(201);
    expect((await post({ name: 'x', member_id: restricted }, keeper)).status).toBe(201);
  });

  test('is possible with a key that has manage_api_keys', async () => {
    const maker = await make({ name: 'Maker', role: 'admin' });
    const { body } = await post({ name: 'Made', role: 'admin' }, by(maker));
    expect(await audit(body.id)).toMatchObject([
      {
        action: 'create',
        target_type: 'api_key',
        actor_id: null,
        actor_name: 'Maker',
        details: { name: 'Made', prefix: body.prefix, role: 'admin', member_id: null },
      },
    ]);
    const editor = await make({ role: 'editor' });
    const refused = await post({ name: 'x', role: 'viewer' }, by(editor));
    expect([refused.status, refused.body]).toEqual([403, beyond('manage_api_keys')]);
  });
});

describe('revoking a key', () => {
  test('requires all capabilities of the key', async () => {
    const keeper = await sessionOf(
      await addMember('editor', { overrides: { manage_api_keys: true } }),
    );
    const revoke = async ({ id }: MadeKey) => {
      const { status, body } = await api.call('DELETE', `/api/keys/${id}`, undefined, keeper);
      return [status, body];
    };
    const refused = [403, { detail: "This action requires the 'delete_workflows' permission" }];
    const [admins, linked, editors] = [
      await make({ role: 'admin' }),
      await make({
        member_id: await addMember('viewer', { overrides: { delete_workflows: true } }),
      }),
      await make({ role: 'editor' }),
    ];
    expect([await revoke(admins), await revoke(linked)]).toEqual([refused, refused]);
    expect([await statuses(admins), await statuses(linked)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    expect(await revoke(editors)).toEqual([204, undefined]);
    await api.call('DELETE', `/api/keys/${admins.id}`);
    expect(await revoke(admins)).toEqual([204, undefined]);
  });

  test('checks capabilities after the lock wait, as creating one does', async () => {
    const keeperId = await addMember('admin');
    const keeper = await sessionOf(keeperId);
    const key = await make({ role: 'admin' });
    const before = await count(sql.fragment`FROM api_keys`);
    const [held, release] = [Promise.withResolvers(), Promise.withResolvers()];
    const holding = api.db.transaction(async (tx) => {
      await run(sql.fragment`UPDATE workspaces SET name = name WHERE id = ${api.workspaceId}`, tx);
      held.resolve(undefined);
      await release.promise;
      await run(sql.fragment`UPDATE members SET role = 'editor' WHERE id = ${keeperId}`, tx);
    });
    await held.promise;
    const answers = [
      post({ name: 'x', role: 'admin' }, keeper),
      api.call('DELETE', `/api/keys/${key.id}`, undefined, keeper),
    ];
    try {
      await untilLockWaiters(api.db, answers.length);
    } finally {
      release.resolve(undefined);
      await holding;
    }
    for (const answer of await Promise.all(answers)) {
      expectRefusal(answer, 403, "This action requires the 'manage_api_keys' permission");
    }
    expect(await count(sql.fragment`FROM api_keys`)).toBe(before);
    expect(await statuses(key)).toEqual([200, 200]);
  });
});

describe('a revocation', () => {
  test('applies to the next request in every process', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const key = await make({ role: 'viewer' });
      expect(await statuses(key)).toEqual([200, 200]);
      const call = round % 2 === 0 ? api.call : other.call;
      expect((await call('DELETE', `/api/keys/${key.id}`)).status).toBe(204);
      expect(await statuses(key)).toEqual([401, 401]);
      expect((await listed(key.id)).revoked).toBe(true);
    }
  });

  test('of a revoked key changes nothing and leaves no audit entry', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const key = await make({ role: 'editor' });
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          (i % 2 === 0 ? api : other).call('DELETE', `/api/keys/${key.id}`),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      expect((await api.call('DELETE', `/api/keys/${key.id}`)).status).toBe(204);
      const entries = await audit(key.id);
      expect(entries.map(({ action }) => action)).toEqual(['revoke', 'create']);
      expect(entries[0]).toMatchObject({
        actor_name: 'Owner',
        target_type: 'api_key',
        details: { name: 'K', prefix: key.prefix, role: 'editor', member_id: null },
      });
    }
  });
});

describe('a key linked to a member', () => {
  test('gets the role of its member, not the requested one', async () => {
    const memberId = await addMember('viewer', { overrides: { approve_gates: true } });
    for (const role of [...roles, undefined]) {
      const { status, body } = await post({ name: 'K', role, member_id: memberId });
      expect([status, body.role, body.member_id]).toEqual([201, 'viewer', memberId]);
      expect(await listed(body.id)).toMatchObject({ role: 'viewer' });
      expect((await audit(body.id))[0]).toMatchObject({ details: { role: 'viewer' } });
      expect((await me(body)).body).toMatchObject({
        role: 'viewer',
        capabilities: heldCapabilities('viewer', { approve_gates: true }),
      });
    }
    // The member's role counts, even if the caller could not grant the requested role.
    const keeper = await sessionOf(
      await addMember('editor', { overrides: { manage_api_keys: true } }),
    );
    const { status, body } = await post({ name: 'K', role: 'admin', member_id: memberId }, keeper);
    expect([status, body.role]).toEqual([201, 'viewer']);
  });

  const set = (memberId: string, change: ReturnType<typeof sql.fragment>) =>
    run(sql.fragment`UPDATE members SET ${change} WHERE id = ${memberId}`);

  test('has the current role and overrides of its member in every process', async () => {
    const memberId = await addMember('viewer', { overrides: { run_workflows: true } });
    const key = await make({ member_id: memberId, role: 'viewer' });
    const expectBoth = async (role: Role, overrides: object) => {
      for (const call of [api.call, other.call]) {
        expect((await me(key, call)).body).toMatchObject({
          id: memberId,
          role,
          capabilities: heldCapabilities(role, overrides),
        });
      }
      expect(await listed(key.id)).toMatchObject({ role, member_id: memberId });
    };
    await expectBoth('viewer', { run_workflows: true });
    await set(memberId, sql.fragment`role = 'admin'`);
    await expectBoth('admin', { run_workflows: true });
    await set(memberId, sql.fragment`overrides = '{"view": false}'`);
    await expectBoth('admin', { view: false });
    expect((await api.call('GET', '/api/workflows', undefined, by(key))).status).toBe(403);
    await set(memberId, sql.fragment`role = 'editor', overrides = '{"view": null}'`);
    await expectBoth('editor', {});
  });

  test('is recorded as its member in the audit log', async () => {
    const memberId = await addMember('editor');
    const key = await make({ name: 'Linked', member_id: memberId });
    const { body } = await api.call('POST', '/api/workflows', { name: 'W' }, by(key));
    expect(await audit(body.id)).toMatchObject([
      { action: 'create', actor_id: memberId, actor_name: 'Member editor' },
    ]);
  });

  test('is refused and listed as revoked after its member is removed', async () => {
    const memberId = await addMember('admin');
    const key = await make({ member_id: memberId });
    expect(await statuses(key)).toEqual([200, 200]);
    await run(sql.fragment`DELETE FROM members WHERE id = ${memberId}`);
    expect(await statuses(key)).toEqual([401, 401]);
    expect(await listed(key.id)).toMatchObject({ revoked: true, role: 'admin' });
  });

  /** The effect of a removal on keys. */
  const remove = (memberId: string) =>
    api.db.transaction(async (tx) => {
      await run(sql.fragment`DELETE FROM members WHERE id = ${memberId}`, tx);
      await run(
        sql.fragment`UPDATE api_keys SET revoked_at = now() WHERE member_id = ${memberId}`,
        tx,
      );
    });

  test('created while its member is removed is refused or revoked', async () => {
    for (let round = 0; round < raceRounds(100); round += 1) {
      const memberId = await addMember('viewer');
      const [answer] = await Promise.all([
        post({ name: 'K', member_id: memberId }),
        remove(memberId),
      ]);
      if (answer.status === 201) expect(await statuses(answer.body)).toEqual([401, 401]);
      else expect([answer.status, answer.body]).toEqual([404, { detail: 'Member not found' }]);
      const of = (rest: ReturnType<typeof sql.fragment>) =>
        count(sql.fragment`FROM api_keys WHERE member_id = ${memberId} ${rest}`);
      expect(await of(sql.fragment``)).toBe(answer.status === 201 ? 1 : 0);
      expect(await of(sql.fragment`AND revoked_at IS NULL`)).toBe(0);
    }
  });

  test('locks its member until it is created', async () => {
    const memberId = await addMember('viewer');
    const isLocked = async () =>
      (
        await api.db.any(sql.unsafe`
        SELECT FROM members WHERE id = ${memberId} FOR UPDATE SKIP LOCKED
      `)
      ).length === 0;
    expect(await isLocked()).toBe(false);
    const [held, release] = [Promise.withResolvers(), Promise.withResolvers()];
    const holding = api.db.transaction(async (tx) => {
      await run(sql.fragment`LOCK TABLE audit_log IN SHARE MODE`, tx);
      held.resolve(undefined);
      await release.promise;
    });
    await held.promise;
    // The key is written, but its audit entry is blocked: the transaction stays open.
    const answer = post({ name: 'K', member_id: memberId });
    try {
      await eventually(isLocked);
    } finally {
      release.resolve(undefined);
      await holding;
    }
    expect((await answer).status).toBe(201);
    expect(await isLocked()).toBe(false);
  });
});

describe('a key as a credential', () => {
  let key: MadeKey;
  beforeAll(async () => {
    key = await make({ role: 'viewer' });
  });

  const status = async (headers: Record<string, string>, url = '/api/auth/me') =>
    (await closed.inject({ method: 'GET', url, headers })).statusCode;

  test('is read from X-API-Key, ahead of Authorization', async () => {
    const session = await sessionOf(await addMember('admin'));
    expect(await status(by(key))).toBe(200);
    expect(await status(session)).toBe(200);
    const { payload } = await closed.inject({
      method: 'GET',
      url: '/api/auth/me',
      headers: { ...by(key), ...session },
    });
    expect(JSON.parse(payload)).toMatchObject({ credential: 'api_key', role: 'viewer' });
    expect(await status({ ...session, 'x-api-key': `${key.secret}x` })).toBe(401);
    expect(await status({ ...session, 'x-api-key': '' })).toBe(401);
    expect(await status({ ...by(key), authorization: 'Bearer nonsense' })).toBe(200);
  });

  test('is read from nowhere else', async () => {
    const { secret } = key;
    const basic = Buffer.from(`${secret}:`).toString('base64');
    for (const authorization of [
      `Bearer ${secret}`,
      secret,
      `ApiKey ${secret}`,
      `Basic ${basic}`,
    ]) {
      expect([authorization, await status({ authorization })]).toEqual([authorization, 401]);
      expect((await api.call('GET', '/api/auth/me', undefined, { authorization })).status).toBe(
        401,
      );
    }
    expect(await status({ cookie: `x-api-key=${secret}` })).toBe(401);
    for (const name of ['x-api-key', 'X-API-Key', 'api_key', 'apiKey', 'key', 'token']) {
      expect([name, await status({}, `/api/auth/me?${name}=${secret}`)]).toEqual([name, 401]);
      // In open mode, the parameter is ignored.
      const open = await api.call('GET', `/api/auth/me?${name}=${secret}`);
      expect(open.body.credential).not.toBe('api_key');
    }
  });

  test('is refused when changed, truncated or extended', async () => {
    const { secret } = key;
    const changed = [...secret].map((character, i) => {
      const instead = character === '0' ? '1' : '0';
      return secret.slice(0, i) + instead + secret.slice(i + 1);
    });
    const cut = [...secret].map((_, i) => secret.slice(0, i));
    const others = [
      secret.toUpperCase(),
      secret.replace('ops_', 'OPS_'),
      secret.replace('ops_', ''),
      secret.slice(1),
      `${secret}0`,
      `${secret}=`,
      `${secret}\t0`,
      `${secret.slice(0, 20)} ${secret.slice(20)}`,
      `${secret}, ${secret}`,
      `${secret},${secret}`,
      `"${secret}"`,
      `Bearer ${secret}`,
      encodeURIComponent(` ${secret}`),
      Buffer.from(secret).toString('base64'),
      createHash('sha256').update(secret).digest('hex'),
      `ops_${createHash('sha256').update(secret).digest('hex')}`,
      `ops_${'x'.repeat(10_000)}`,
      secret + '0'.repeat(10_000),
      'ops_%',
      "ops_' OR ''='",
      'ops_é',
      'null',
    ];
    for (const mutilated of [...changed, ...cut, ...others]) {
      for (const call of [
        status,
        async (headers: Record<string, string>) =>
          (await api.call('GET', '/api/auth/me', undefined, headers)).status,
      ]) {
        expect([mutilated, await call({ 'x-api-key': mutilated })]).toEqual([mutilated, 401]);
      }
    }
    expect(await status(by(key))).toBe(200);
  });

  describe('over a real socket', () => {
    const raw = async (...headers: string[]): Promise<number> => {
      const { port } = closed.server.address() as { port: number };
      const socket = connect(port, '127.0.0.1');
      const lines = ['GET /api/auth/me HTTP/1.1', 'Host: x', 'Connection: close', ...headers];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    };

    test('is accepted only once, with any header case', async () => {
      const { secret } = key;
      expect(await raw(`X-API-Key: ${secret}`)).toBe(200);
      expect(await raw(`x-api-key:${secret}  `)).toBe(200);
      const wrong = newApiKeySecret().secret;
      for (const [first, second] of [
        [secret, secret],
        [secret, wrong],
        [wrong, secret],
        [secret, ''],
        ['', secret],
      ]) {
        const headers = [`X-API-Key: ${first}`, `x-api-key: ${second}`];
        expect([headers, await raw(...headers)]).toEqual([headers, 401]);
      }
    });

    test('is refused with invalid bytes or excessive length', async () => {
      const { secret } = key;
      expect(await raw('X-API-Key:')).toBe(401);
      expect(await raw(`X-API-Key: ${secret.slice(0, 20)}\t${secret.slice(20)}`)).toBe(401);
      expect(await raw(`X-API-Key: ${secret}\u00ff`)).toBe(401);
      expect(await raw(`X-API-Key: ${secret}${'0'.repeat(10_000)}`)).toBe(401);
      expect(await raw(`X-API-Key: ${secret}${'0'.repeat(40_000)}`)).toBe(431);
      expect(await raw(`X-API-Key: ${secret}\0`)).toBe(400);
    });
  });
});
