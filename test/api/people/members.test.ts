import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { capabilities } from '#shared/people/capabilities.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { addMember, invite, newEmail, PASSWORD, type Person } from '#test/support/people.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds, soakTest } from '#test/support/soak.ts';

// Two apps act as two processes of one installation, so they must accept the same tokens.
const env = {
  SECRET_KEY: 'a secret of this test and of nothing else',
  ENCRYPTION_KEY: 'a key of this test and of nothing else',
};

let api: TestApi;
/** For changes that the API does not allow. */
let other: pg.Client;
const open = async () => {
  api = await startTestApi(env);
  other = new pg.Client({ connectionString: api.databaseUrl });
  await other.connect();
};
const close = async () => {
  await other.end();
  await api.stop();
};

const get = async (url: string, headers?: Record<string, string>) =>
  (await api.call('GET', url, undefined, headers)).body;
const newest = async (n = 1): Promise<any[]> => (await get(`/api/audit?limit=${n}`)).logs;
const total = async (): Promise<number> => (await get('/api/audit')).total;
const owner = async (): Promise<any> =>
  (await get('/api/members')).find((member: any) => member.is_owner);
const setRole = (id: string, role: string, headers?: Record<string, string>) =>
  api.call('PATCH', `/api/members/${id}`, { role }, headers);
const override = (id: string, overrides: unknown, headers?: Record<string, string>) =>
  api.call('PUT', `/api/members/${id}/permissions`, { overrides }, headers);
const remove = (id: string, headers?: Record<string, string>) =>
  api.call('DELETE', `/api/members/${id}`, undefined, headers);
const signUp = async (email = newEmail()) =>
  (await api.call('POST', '/api/auth/signup', { name: 'Sam', email, password: PASSWORD })).body;
const accept = (invite_code: string, password = PASSWORD) =>
  api.call('POST', '/api/auth/accept-invite', { invite_code, password });
const login = (email: string) => api.call('POST', '/api/auth/login', { email, password: PASSWORD });
const approve = (id: string, headers?: Record<string, string>) =>
  api.call('POST', `/api/members/${id}/approve`, undefined, headers);
const addKey = async (memberId: string, name = 'robot'): Promise<string> => {
  const id = newId('apiKey');
  await other.query(
    `INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id)
     VALUES ($1::text, $2, $3, 'ops_x', sha256(convert_to($1::text, 'UTF8')), 'viewer', $4)`,
    [id, api.workspaceId, name, memberId],
  );
  return id;
};
const missing = (capability: string) => [
  403,
  { detail: `This action requires the '${capability}' permission` },
];
const refusal = ({ status, body }: { status: number; body: unknown }) => [status, body];

describe('members', () => {
  beforeAll(open);
  afterAll(close);

  describe('invitations', () => {
    test('show the code only to inviters, until it is used', async () => {
      const email = newEmail();
      const { status, body, headers } = await api.call('POST', '/api/members/invite', {
        name: ' Grace ',
        email,
        role: 'editor',
      });
      expect([status, body]).toEqual([
        201,
        {
          id: expect.stringMatching(/^mem_/),
          name: 'Grace',
          email,
          role: 'editor',
          status: 'invited',
          is_owner: false,
          invite_code: expect.stringMatching(/^inv_[0-9a-hjkmnp-tv-z]{32}$/),
          invite_expires_at: expect.stringMatching(/Z$/),
          created_at: expect.stringMatching(/Z$/),
          etag: expect.any(String),
        },
      ]);
      expect(headers['location']).toBe(`/api/members/${body.id}`);
      expect(await newest()).toMatchObject([
        {
          action: 'invite',
          target_type: 'member',
          target_id: body.id,
          details: { name: 'Grace', email, role: 'editor' },
        },
      ]);
      expect((await api.call('GET', '/api/audit')).text).not.toContain(body.invite_code);

      const viewer = await addMember(api, { role: 'viewer' });
      const codes = async (by?: Record<string, string>) => [
        (await get('/api/members', by)).find((each: any) => each.id === body.id).invite_code,
        (await get(`/api/members/${body.id}`, by)).invite_code,
      ];
      expect(await codes()).toEqual([body.invite_code, body.invite_code]);
      expect(await codes(viewer.headers)).toEqual([null, null]);
      const accepted = await accept(body.invite_code);
      expect([accepted.status, accepted.body.member.status]).toEqual([200, 'active']);
      expect(await codes()).toEqual([null, null]);
    });

    test('hide the code from members who hold less than it grants', async () => {
      const clerk = await addMember(api, { role: 'editor', overrides: { manage_members: true } });
      const [admin, editor] = [
        await invite(api, { role: 'admin' }),
        await invite(api, { role: 'editor' }),
      ];
      expect((await get(`/api/members/${admin.id}`, clerk.headers)).invite_code).toBeNull();
      expect((await get(`/api/members/${editor.id}`, clerk.headers)).invite_code).toBe(editor.code);
      expect((await api.call('GET', '/api/members', undefined, clerk.headers)).text).not.toContain(
        admin.code,
      );
    });

    test('store only a hash of the code, and expire after seven days', async () => {
      const before = Date.now();
      const { id, code } = await invite(api, { role: 'viewer' });
      const after = Date.now();
      const { rows } = await other.query(
        'SELECT to_jsonb(m)::text AS row FROM members m WHERE id = $1',
        [id],
      );
      expect(rows[0].row).not.toContain(code);
      expect(rows[0].row).toContain(createHash('sha256').update(code).digest('hex'));
      const { invite_expires_at: expires } = await get(`/api/members/${id}`);
      const invited = Date.parse(expires) - 7 * 86_400_000;
      expect(invited).toBeGreaterThanOrEqual(before - 1);
      expect(invited).toBeLessThanOrEqual(after + 1);
      await other.query(`UPDATE members SET invite_expires_at = now() WHERE id = $1`, [id]);
      const expired = await get(`/api/members/${id}`);
      expect([expired.invite_code, expired.status]).toEqual([null, 'invited']);
      expect(Date.parse(expired.invite_expires_at)).toBeLessThanOrEqual(Date.now());
      expect((await accept(code)).status).toBe(400);
    });

    test('can be renewed, which replaces the code and its expiry', async () => {
      const { id, code } = await invite(api, { role: 'editor' });
      await other.query(`UPDATE members SET invite_expires_at = now() WHERE id = $1`, [id]);
      const renew = (by?: Record<string, string>) =>
        api.call('POST', `/api/members/${id}/invite`, undefined, by);
      const { status, body } = await renew();
      expect([status, body]).toEqual([200, await get(`/api/members/${id}`)]);
      expect(body.invite_code).toMatch(/^inv_/);
      expect(body.invite_code).not.toBe(code);
      expect(Date.parse(body.invite_expires_at)).toBeGreaterThan(Date.now());
      expect(await newest()).toMatchObject([
        { action: 'invite_renew', target_id: id, details: { role: 'editor' } },
      ]);
      expect((await accept(code)).status).toBe(400);
      expect((await accept(body.invite_code)).status).toBe(200);
      expect(refusal(await renew())).toEqual([400, { detail: 'The member is not invited' }]);
      expect((await api.call('POST', '/api/members/mem_x/invite')).status).toBe(404);
      const clerk = await addMember(api, { role: 'editor', overrides: { manage_members: true } });
      const admin = await invite(api, { role: 'admin' });
      const url = `/api/members/${admin.id}/invite`;
      expect(refusal(await api.call('POST', url, undefined, clerk.headers))).toEqual(
        missing('delete_workflows'),
      );
    });

    test('get a new code only when their capabilities increase', async () => {
      for (const raise of [
        (id: string) => setRole(id, 'admin'),
        (id: string) => override(id, { approve_gates: true }),
      ]) {
        const { id, code } = await invite(api, { role: 'viewer' });
        await setRole(id, 'viewer');
        await override(id, { view: false });
        expect((await get(`/api/members/${id}`)).invite_code).toBe(code);
        const { status, body } = await raise(id);
        expect(status).toBe(200);
        expect(body.invite_code).not.toBe(code);
        expect((await newest())[0].details).toMatchObject({ invite_code: 'renewed' });
        expect((await api.call('GET', '/api/audit')).text).not.toContain(body.invite_code);
        expect((await accept(code)).status).toBe(400);
        expect((await accept(body.invite_code)).status).toBe(200);
      }
    });

    soakTest('are accepted before a concurrent promotion, or void after it', async () => {
      for (let round = 0; round < raceRounds(30); round += 1) {
        const { id, code } = await invite(api, { role: 'viewer' });
        const [accepted, raised] = await Promise.all([accept(code), setRole(id, 'admin')]);
        expect(raised.status).toBe(200);
        // Either the viewer joined first and was then made an admin, or the code was already void.
        expect([accepted.status, raised.body.status]).toEqual(
          accepted.status === 200 ? [200, 'active'] : [400, 'invited'],
        );
        if (accepted.status === 200) expect(accepted.body.member.role).toBe('viewer');
      }
    });

    test('are unique per email across letter case, status and workspace', async () => {
      const taken = [
        (await invite(api, { role: 'viewer' })).email,
        (await signUp()).email,
        (await addMember(api, { role: 'viewer' })).email,
        newEmail(),
      ];
      const elsewhere = newId('workspace');
      await other.query(`INSERT INTO workspaces (id, name) VALUES ($1, 'Other')`, [elsewhere]);
      await other.query(
        `INSERT INTO members (id, workspace_id, name, email, role, status)
         VALUES ($1, $2, 'Eve', $3, 'admin', 'active')`,
        [newId('member'), elsewhere, taken[3]],
      );
      const before = await total();
      for (const email of taken.flatMap((each) => [each, each?.toUpperCase()])) {
        const body = { name: 'Again', email, role: 'viewer' };
        expect(refusal(await api.call('POST', '/api/members/invite', body))).toEqual([
          400,
          { detail: 'A member with this email already exists' },
        ]);
      }
      expect(await total()).toBe(before);
      expect((await api.call('GET', '/api/members')).text).not.toContain('"Eve"');
    });

    soakTest('are unique per email, also when sent concurrently', async () => {
      const second = await api.another();
      try {
        for (let round = 0; round < raceRounds(20); round += 1) {
          const email = newEmail();
          const answers = await Promise.all(
            [0, 1, 2, 3, 4, 5].map((n) =>
              [api, second][n % 2]!.call('POST', '/api/members/invite', {
                name: `Racer ${n}`,
                email: n < 3 ? email : email.toUpperCase(),
                role: 'viewer',
              }),
            ),
          );
          expect(answers.map((each) => each.status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
        }
      } finally {
        await second.app.close();
      }
    });

    test.each([
      ['an email with a NUL', { email: 'a\0@example.com' }, /email contains a NUL/],
      ['an email without an @', { email: 'example.com' }, /email must be an email address/],
      ['an email with letters beyond ASCII', { email: 'ä@example.com' }, /email must be/],
      ['an email with a line break', { email: 'a@example.com\nBcc: b@c.d' }, /email must be/],
    ])('are refused with %s', async (_what, part, detail) => {
      const before = (await get('/api/members')).length;
      const body = { name: 'Bad', role: 'viewer', ...part };
      const answer = await api.call('POST', '/api/members/invite', body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
      expect((await get('/api/members')).length).toBe(before);
    });
  });

  describe('the list', () => {
    test('is sorted by creation time, with optional paging', async () => {
      for (let n = 0; n < 3; n += 1) await invite(api, { role: 'viewer' });
      const all = await get('/api/members');
      expect(all[0]).toMatchObject({ name: 'Owner', is_owner: true, invite_code: null });
      const times = all.map((each: any) => each.created_at);
      expect(times).toEqual([...times].sort());
      expect(await get('/api/members?limit=2&offset=1')).toEqual(all.slice(1, 3));
      expect(await get('/api/members?offset=1000')).toEqual([]);
    });
  });

  describe('details', () => {
    test('include every capability with its source, and the number of keys', async () => {
      const { id } = await addMember(api, {
        role: 'viewer',
        overrides: { run_workflows: true, view: false },
      });
      await addKey(id);
      await addKey(id);
      await other.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [await addKey(id)]);
      const detail = await get(`/api/members/${id}`);
      expect(Object.keys(detail)).toEqual([
        ...['id', 'name', 'email', 'role', 'status', 'is_owner', 'invite_code'],
        ...['invite_expires_at', 'created_at', 'etag', 'capabilities', 'api_key_count'],
      ]);
      expect(detail.api_key_count).toBe(2);
      expect(Object.keys(detail.capabilities)).toEqual(Object.keys(capabilities));
      expect(detail.capabilities).toMatchObject({
        view: { default: true, override: false, effective: false },
        run_workflows: { default: false, override: true, effective: true },
        manage_members: { default: false, override: null, effective: false },
      });
    });
  });

  describe('role changes', () => {
    test.each(['PATCH', 'PUT'])('by %s apply immediately and are audited once', async (method) => {
      const { id, headers } = await addMember(api, { role: 'viewer' });
      const workflow = { name: 'x' };
      expect((await api.call('POST', '/api/workflows', workflow, headers)).status).toBe(403);
      const before = await total();
      for (let n = 0; n < 2; n += 1) {
        const answer = await api.call(method, `/api/members/${id}`, { role: 'editor' });
        expect([answer.status, answer.body]).toEqual([200, await get(`/api/members/${id}`)]);
        expect(answer.body).toMatchObject({ id, role: 'editor' });
      }
      expect(await total()).toBe(before + 1);
      expect(await newest()).toMatchObject([
        {
          action: 'role_change',
          target_type: 'member',
          target_id: id,
          details: { from: 'viewer', to: 'editor' },
          actor_name: 'Owner',
        },
      ]);
      expect((await api.call('POST', '/api/workflows', workflow, headers)).status).toBe(201);
    });
  });

  describe('capability overrides', () => {
    test.each(['PUT', 'PATCH'])(
      'by %s are merged with existing ones and audited once',
      async (method) => {
        const { id } = await addMember(api, { role: 'viewer' });
        const change = async (overrides: object) => {
          const url = `/api/members/${id}/permissions`;
          const { status, body } = await api.call(method, url, { overrides });
          expect(status).toBe(200);
          const given = Object.entries<any>(body.capabilities)
            .map(([name, { override: value }]) => [name, value])
            .filter(([, value]) => value !== null);
          return Object.fromEntries(given);
        };
        expect(await change({ run_workflows: true, view: true })).toEqual({
          view: true,
          run_workflows: true,
        });
        expect(await change({ view: false })).toEqual({ view: false, run_workflows: true });
        const before = await total();
        expect(await change({ view: null, run_workflows: true, approve_gates: null })).toEqual({
          run_workflows: true,
        });
        expect(await total()).toBe(before + 1);
        expect(await newest()).toMatchObject([
          {
            action: 'permissions_change',
            target_type: 'member',
            target_id: id,
            details: { changed: { view: { from: false, to: null } } },
          },
        ]);
        for (const same of [{}, { run_workflows: true }, { view: null }]) await change(same);
        expect(await total()).toBe(before + 1);
      },
    );

    test('apply to the next request', async () => {
      const { id, headers } = await addMember(api, { role: 'viewer' });
      await override(id, { create_edit_workflows: true });
      expect((await api.call('POST', '/api/workflows', { name: 'x' }, headers)).status).toBe(201);
      await override(id, { create_edit_workflows: null, view: false });
      expect((await api.call('POST', '/api/workflows', { name: 'x' }, headers)).status).toBe(403);
      expect(refusal(await api.call('GET', '/api/members', undefined, headers))).toEqual(
        missing('view'),
      );
    });

    test.each([
      ['{"overrides":{"constructor":true,"toString":null}}', /unknown field 'overrides\.con/],
      ['{"overrides":{"__proto__":{"view":true}}}', /__proto__/],
    ])('are refused with %s', async (payload, detail) => {
      const { id } = await invite(api, { role: 'viewer' });
      const answer = await api.send({
        method: 'PUT',
        url: `/api/members/${id}/permissions`,
        headers: { 'content-type': 'application/json' },
        payload,
      });
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    });
  });

  describe('approval of sign-ups', () => {
    test('lets the member sign in, and works once', async () => {
      const { id, email } = await signUp();
      expect((await login(email)).status).toBe(403);
      const approved = await approve(id);
      expect([approved.status, approved.body]).toMatchObject([200, { id, status: 'active' }]);
      expect((await login(email)).status).toBe(200);
      expect(await newest()).toMatchObject([
        { action: 'approve_member', target_id: id, details: { email, role: 'viewer' } },
      ]);
      const before = await total();
      expect(refusal(await approve(id))).toEqual([400, { detail: 'The member is not pending' }]);
      expect(await total()).toBe(before);
      expect((await approve((await invite(api, { role: 'viewer' })).id)).status).toBe(400);
    });

    test('does not check the address without mail, and audits that', async () => {
      const { id } = await signUp();
      await approve(id);
      expect((await newest())[0].details).toMatchObject({ address: 'not_checked' });
    });

    test('fails if another workspace invites the address first, and blocks it otherwise', async () => {
      const elsewhere = newId('workspace');
      await other.query(`INSERT INTO workspaces (id, name) VALUES ($1, 'Elsewhere')`, [elsewhere]);
      const key = `ops_${newId('apiKey')}`;
      await other.query(
        `INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
         VALUES ($1, $2, 'K', 'ops_x', sha256(convert_to($3, 'UTF8')), 'admin')`,
        [newId('apiKey'), elsewhere, key],
      );
      const inviteElsewhere = (email: string) =>
        api.call(
          'POST',
          '/api/members/invite',
          { name: 'Ann', email, role: 'viewer' },
          { 'x-api-key': key },
        );
      const pending = await signUp();
      const invited = await inviteElsewhere(pending.email.toUpperCase());
      expect(invited.status).toBe(201);
      expect((await api.call('GET', `/api/members/${pending.id}`)).status).toBe(404);
      expect(await newest()).toMatchObject([
        {
          action: 'remove',
          target_id: pending.id,
          actor_id: null,
          details: { email: pending.email, reason: 'address_invited' },
        },
      ]);
      const accepted = await accept(invited.body.invite_code, 'another password');
      expect(accepted.status).toBe(200);
      expect((await login(pending.email)).status).toBe(401);

      // Either the approval or the invitation gets the address permanently, even when they are concurrent.
      for (let round = 0; round < raceRounds(20); round += 1) {
        const { id, email } = await signUp();
        const [approved, away] = await Promise.all([approve(id), inviteElsewhere(email)]);
        expect([
          [200, 400],
          [404, 201],
        ]).toContainEqual([approved.status, away.status]);
        const { rows } = await other.query(
          'SELECT status FROM members WHERE lower(email) = lower($1)',
          [email],
        );
        expect(rows).toEqual([{ status: approved.status === 200 ? 'active' : 'invited' }]);
      }
    });

    soakTest('succeeds once for concurrent requests', async () => {
      for (let round = 0; round < raceRounds(10); round += 1) {
        const { id } = await signUp();
        const answers = await Promise.all([1, 2, 3, 4].map(() => approve(id)));
        expect(answers.map((each) => each.status).sort()).toEqual([200, 400, 400, 400]);
      }
    });
  });

  describe('gaining capabilities', () => {
    /** The role of a key, or the status of its refusal. */
    const roleOf = async (secret: string) => {
      const { status, body } = await api.call('GET', '/api/auth/me', undefined, {
        'x-api-key': secret,
      });
      return status === 200 ? body.role : status;
    };
    const makeKey = async (memberId: string, by?: Record<string, string>): Promise<any> => {
      const { status, body } = await api.call(
        'POST',
        '/api/keys',
        { name: 'Linked', member_id: memberId },
        by,
      );
      expect(status).toBe(201);
      return body;
    };
    const keeper = () => addMember(api, { role: 'editor', overrides: { manage_api_keys: true } });

    test('revokes keys made by others who hold less', async () => {
      const { id, headers } = await addMember(api, {
        role: 'viewer',
        overrides: { manage_api_keys: true },
      });
      const [clerk, gone] = [await keeper(), await keeper()];
      const program = (await api.call('POST', '/api/keys', { name: 'P', role: 'admin' })).body;
      const keys = {
        theirs: await makeKey(id, headers),
        admins: await makeKey(id),
        clerks: await makeKey(id, clerk.headers),
        gone: await makeKey(id, gone.headers),
        programs: await makeKey(id, { 'x-api-key': program.secret }),
      };
      expect((await remove(gone.id)).status).toBe(204);
      const roles = async () =>
        Object.fromEntries(
          await Promise.all(
            Object.entries(keys).map(async ([whose, key]) => [whose, await roleOf(key.secret)]),
          ),
        );
      expect(new Set(Object.values(await roles()))).toEqual(new Set(['viewer']));
      // A key is kept if its maker is known and has all capabilities of an editor.
      expect((await setRole(id, 'editor')).status).toBe(200);
      expect(await roles()).toEqual({
        theirs: 'editor',
        admins: 'editor',
        clerks: 'editor',
        gone: 401,
        programs: 401,
      });
      const before = await total();
      expect((await override(id, { delete_workflows: true })).body.api_key_count).toBe(2);
      expect(await roles()).toMatchObject({ theirs: 'editor', admins: 'editor', clerks: 401 });
      expect(await total()).toBe(before + 2);
      expect((await newest(2)).map(({ action }) => action).sort()).toEqual([
        'permissions_change',
        'revoke',
      ]);
      expect((await newest(2)).find(({ action }) => action === 'revoke')).toMatchObject({
        target_type: 'api_key',
        target_id: keys.clerks.id,
        details: {
          member_id: id,
          role: 'editor',
          reason: 'its member gained permissions that its maker lacks',
        },
      });
    });

    test('keeps such keys with keep_keys, as losing capabilities does', async () => {
      const { id } = await addMember(api, { role: 'viewer' });
      const clerk = await keeper();
      const { secret } = await makeKey(id, clerk.headers);
      const promote = (body: object) => api.call('PATCH', `/api/members/${id}`, body);
      expect((await promote({ role: 'admin', keep_keys: true })).status).toBe(200);
      expect(await roleOf(secret)).toBe('admin');
      expect((await promote({ role: 'viewer' })).status).toBe(200);
      expect(await roleOf(secret)).toBe('viewer');
      const overrides = { manage_workspace: true };
      const url = `/api/members/${id}/permissions`;
      expect((await api.call('PUT', url, { overrides, keep_keys: true })).status).toBe(200);
      expect(await roleOf(secret)).toBe('viewer');
      expect((await promote({ role: 'viewer', keep_keys: 'yes' })).status).toBe(400);
      expect((await promote({ role: 'admin' })).status).toBe(200);
      expect(await roleOf(secret)).toBe(401);
    });

    soakTest('revokes or prevents such keys created concurrently', async () => {
      const clerk = await keeper();
      for (let round = 0; round < raceRounds(20); round += 1) {
        const { id } = await addMember(api, { role: 'viewer' });
        const [made, promoted] = await Promise.all([
          api.call('POST', '/api/keys', { name: 'K', member_id: id }, clerk.headers),
          setRole(id, 'admin'),
        ]);
        expect(promoted.status).toBe(200);
        if (made.status === 201) expect(await roleOf(made.body.secret)).toBe(401);
        else expect(made.status).toBe(403);
      }
    });
  });

  describe('removal', () => {
    test('ends sessions and keys, and keeps the name in the audit log', async () => {
      const person = await addMember(api, { role: 'editor', name: 'Rosa' });
      await api.call('POST', '/api/workflows', { name: 'hers' }, person.headers);
      const keys = [await addKey(person.id, 'one'), await addKey(person.id, 'two')].sort();
      const bystander = await addKey((await owner()).id);
      const before = await total();
      const answer = await remove(person.id);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect((await api.call('GET', '/api/auth/me', undefined, person.headers)).status).toBe(401);
      expect((await api.call('GET', `/api/members/${person.id}`)).status).toBe(404);
      expect(await total()).toBe(before + 3);
      const entries = await newest(4);
      expect(entries[2]).toMatchObject({
        action: 'remove',
        target_type: 'member',
        target_id: person.id,
        details: { name: 'Rosa', email: person.email, role: 'editor' },
      });
      const revoked = entries.slice(0, 2);
      expect(revoked.map((each) => each.target_id).sort()).toEqual(keys);
      expect(revoked[0]).toMatchObject({
        action: 'revoke',
        target_type: 'api_key',
        details: {
          name: expect.any(String),
          prefix: 'ops_x',
          role: 'editor',
          member_id: person.id,
        },
      });
      expect(entries[3]).toMatchObject({ action: 'create', actor_name: 'Rosa' });
      const { rows } = await other.query(
        'SELECT id FROM api_keys WHERE revoked_at IS NULL AND id = ANY($1)',
        [[...keys, bystander]],
      );
      expect(rows).toEqual([{ id: bystander }]);
      expect((await remove(person.id)).status).toBe(404);
    });

    test('works for invited and pending members', async () => {
      const invited = await invite(api, { role: 'admin' });
      expect((await remove(invited.id)).status).toBe(204);
      expect((await accept(invited.code)).status).toBe(400);
      const pending = await signUp();
      expect((await remove(pending.id)).status).toBe(204);
      expect((await login(pending.email)).status).toBe(401);
      expect((await invite(api, { role: 'viewer', email: pending.email })).id).toMatch(/^mem_/);
    });

    test('lets members remove themselves', async () => {
      const person = await addMember(api, { role: 'admin' });
      expect((await remove(person.id, person.headers)).status).toBe(204);
      expect(await newest()).toMatchObject([{ action: 'remove', actor_id: person.id }]);
    });

    soakTest('wins over a concurrent acceptance', async () => {
      for (let round = 0; round < raceRounds(10); round += 1) {
        const { id, code } = await invite(api, { role: 'viewer' });
        const [removed, accepted] = await Promise.all([remove(id), accept(code)]);
        expect(removed.status).toBe(204);
        if (accepted.status === 200) {
          const headers = { authorization: `Bearer ${accepted.body.token}` };
          expect((await api.call('GET', '/api/auth/me', undefined, headers)).status).toBe(401);
        } else {
          expect(accepted.status).toBe(400);
        }
      }
    });
  });

  describe('managing members', () => {
    let clerk: Person;
    beforeAll(async () => {
      clerk = await addMember(api, { role: 'editor', overrides: { manage_members: true } });
    });

    test('can grant what a non-admin caller holds', async () => {
      const person = await addMember(api, { role: 'editor', by: clerk.headers });
      expect((await setRole(person.id, 'viewer', clerk.headers)).status).toBe(200);
      expect((await override(person.id, { manage_members: true }, clerk.headers)).status).toBe(200);
      const pending = await signUp();
      expect((await approve(pending.id, clerk.headers)).status).toBe(200);
      expect((await remove(person.id, clerk.headers)).status).toBe(204);
    });

    test('cannot grant more than the caller holds to anyone', async () => {
      const before = await total();
      const admin = { name: 'x', email: newEmail(), role: 'admin' };
      const by = clerk.headers;
      expect(refusal(await api.call('POST', '/api/members/invite', admin, by))).toEqual(
        missing('delete_workflows'),
      );
      expect(refusal(await setRole(clerk.id, 'admin', by))).toEqual(missing('delete_workflows'));
      expect(refusal(await override(clerk.id, { manage_workspace: true }, by))).toEqual(
        missing('manage_workspace'),
      );
      expect(await total()).toBe(before);

      const denied = await addMember(api, {
        role: 'admin',
        overrides: { manage_api_keys: false, manage_workspace: false, delete_workflows: false },
      });
      expect(refusal(await override(denied.id, { manage_api_keys: null }, by))).toEqual(
        missing('manage_api_keys'),
      );
      expect((await override(denied.id, { view: true }, by)).status).toBe(200);

      const pending = await signUp();
      await override(pending.id, { manage_workspace: true });
      expect(refusal(await approve(pending.id, by))).toEqual(missing('manage_workspace'));
    });

    test('cannot restrict or remove members who hold more', async () => {
      const admin = await addMember(api, { role: 'admin' });
      const spared = await addMember(api, {
        role: 'viewer',
        overrides: { manage_workspace: true },
      });
      const invited = await invite(api, { role: 'admin' });
      const pending = await signUp();
      await setRole(pending.id, 'admin');
      const before = [await get('/api/members'), await total()];
      for (const { id } of [admin, invited, pending]) {
        for (const act of [
          setRole(id, 'viewer', clerk.headers),
          override(id, { view: false }, clerk.headers),
          override(id, { manage_members: false }, clerk.headers),
          remove(id, clerk.headers),
        ]) {
          expect(refusal(await act)).toEqual(missing('delete_workflows'));
        }
      }
      expect(refusal(await remove(spared.id, clerk.headers))).toEqual(missing('manage_workspace'));
      expect(refusal(await override(spared.id, { manage_workspace: null }, clerk.headers))).toEqual(
        missing('manage_workspace'),
      );
      expect([await get('/api/members'), await total()]).toEqual(before);
    });
  });
});

describe('the last active admin', () => {
  beforeEach(open);
  afterEach(close);

  const refuses = async (answer: Promise<{ status: number; body: any }>, what: string) =>
    expect(refusal(await answer)).toEqual([
      400,
      { detail: `The last active admin cannot ${what}` },
    ]);

  test('cannot be removed, demoted or denied a capability', async () => {
    const { id } = await owner();
    // None of these is an active admin with both capabilities.
    await addMember(api, { role: 'editor' });
    await invite(api, { role: 'admin' });
    await setRole((await signUp()).id, 'admin');
    await addMember(api, { role: 'admin', overrides: { manage_workspace: false } });
    await addMember(api, { role: 'admin', overrides: { manage_members: false } });
    await addMember(api, {
      role: 'editor',
      overrides: { manage_members: true, manage_workspace: true },
    });
    const [before, audited] = [await get('/api/members'), await total()];
    await refuses(remove(id), 'be removed');
    await refuses(setRole(id, 'editor'), 'lose the admin role');
    await refuses(override(id, { manage_members: false }), `be denied 'manage_members'`);
    await refuses(override(id, { manage_workspace: false }), `be denied 'manage_workspace'`);
    await refuses(
      override(id, { view: true, manage_workspace: false, manage_members: false }),
      `be denied 'manage_members' and 'manage_workspace'`,
    );
    expect([await get('/api/members'), await total()]).toEqual([before, audited]);
    for (const capability of Object.keys(capabilities)) {
      await refuses(override(id, { [capability]: false }), `be denied '${capability}'`);
    }
    await refuses(
      override(id, { delete_workflows: false, view: false, manage_members: true }),
      `be denied 'view' and 'delete_workflows'`,
    );
    expect((await override(id, { manage_members: true })).status).toBe(200);
  });

  test('can be denied a capability that another admin holds and can restore', async () => {
    const { id } = await owner();
    const second = await addMember(api, { role: 'admin' });
    expect((await override(id, { delete_workflows: false })).status).toBe(200);
    await refuses(override(second.id, { view: false }, second.headers), `be denied 'view'`);
    await refuses(setRole(second.id, 'editor', second.headers), 'lose the admin role');
    expect(refusal(await override(id, { delete_workflows: null }))).toEqual(
      missing('delete_workflows'),
    );
    expect((await override(id, { delete_workflows: null }, second.headers)).status).toBe(200);
    expect((await override(second.id, { view: false })).status).toBe(200);
  });

  test('who already lacks a capability cannot lose another', async () => {
    const { id } = await owner();
    await other.query(
      `UPDATE members SET overrides = '{"delete_workflows": false}' WHERE id = $1`,
      [id],
    );
    await refuses(override(id, { run_workflows: false }), `be denied 'run_workflows'`);
    await refuses(setRole(id, 'viewer'), 'lose the admin role');
    expect((await override(id, { view: true })).status).toBe(200);
  });

  test('can be removed once another full admin exists', async () => {
    const { id } = await owner();
    const second = await addMember(api, { role: 'admin' });
    expect((await override(id, { manage_workspace: false })).status).toBe(200);
    await refuses(remove(second.id, second.headers), 'be removed');
    expect(refusal(await remove(second.id))).toEqual(missing('manage_workspace'));
    expect((await override(id, { manage_workspace: null }, second.headers)).status).toBe(200);
    expect((await remove(second.id, second.headers)).status).toBe(204);
  });
});

describe('the owner', () => {
  beforeEach(open);
  afterEach(close);

  const addAdmins = async () => {
    await addMember(api, { role: 'editor' });
    await addMember(api, { role: 'admin', overrides: { manage_members: false } });
    await invite(api, { role: 'admin' });
    const heir = await addMember(api, { role: 'admin', name: 'Heir' });
    await addMember(api, { role: 'admin' });
    return heir;
  };

  test.each(['is demoted', 'is removed'])(
    'who %s is succeeded by the longest-serving admin, also in open mode',
    async (how) => {
      const heir = await addAdmins();
      const { id } = await owner();
      const answer = how === 'is removed' ? await remove(id) : await setRole(id, 'viewer');
      expect(answer.status).toBe(how === 'is removed' ? 204 : 200);
      const entries = (await get('/api/audit?limit=2', heir.headers)).logs;
      expect(entries).toMatchObject([
        {
          action: 'owner_change',
          target_type: 'member',
          target_id: heir.id,
          details: { from: id, to: heir.id },
          actor_name: 'Owner',
        },
        { action: how === 'is removed' ? 'remove' : 'role_change', target_id: id },
      ]);
      const owners = (await get('/api/members', heir.headers)).filter((each: any) => each.is_owner);
      expect(owners).toMatchObject([{ id: heir.id }]);
      const second = await api.another();
      try {
        expect((await second.call('GET', '/api/auth/me')).body).toMatchObject({ id: heir.id });
      } finally {
        await second.app.close();
      }
    },
  );

  test('keeps ownership through other changes', async () => {
    const heir = await addAdmins();
    const { id } = await owner();
    await override(id, { manage_workspace: false });
    await setRole(id, 'admin');
    await remove(heir.id);
    expect((await owner()).id).toBe(id);
  });
});

describe('concurrent changes', () => {
  let second: Awaited<ReturnType<TestApi['another']>>;
  let watcher: Pool;
  beforeEach(async () => {
    await open();
    second = await api.another();
    watcher = await connectDatabase(api.databaseUrl, { maxPoolSize: 1 });
  });
  afterEach(async () => {
    await watcher.end();
    await second.app.close();
    await close();
  });

  test.each([
    ['demoted', `UPDATE members SET role = 'editor' WHERE id = $1`],
    ['denied it', `UPDATE members SET overrides = '{"manage_members": false}' WHERE id = $1`],
    ['removed', 'DELETE FROM members WHERE id = $1'],
  ])('refuse manage_members to an admin who was %s while waiting', async (_how, change) => {
    const admin = await addMember(api, { role: 'admin' });
    const { id } = await invite(api, { role: 'viewer' });
    const pending = await signUp();
    const before = [await get('/api/members'), await total()];
    const holder = new pg.Client({ connectionString: api.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [api.workspaceId]);
    const requests = [
      setRole(id, 'editor', admin.headers),
      override(id, { view: false }, admin.headers),
      remove(id, admin.headers),
      invite(api, { role: 'viewer', by: admin.headers }).catch((error: unknown) => error),
      approve(pending.id, admin.headers),
    ];
    // On a separate connection, since the requests occupy the API's pool.
    await untilLockWaiters(watcher, requests.length);
    await holder.query(change, [admin.id]);
    await holder.query('COMMIT');
    await holder.end();
    const [invited, ...answers] = (await Promise.all(requests)).toSorted((one) =>
      one instanceof Error ? -1 : 0,
    );
    expect(String(invited)).toMatch(/answered 403/);
    for (const answer of answers) {
      expect(refusal(answer as never)).toEqual(missing('manage_members'));
    }
    const [members, audited] = [await get('/api/members'), await total()];
    const others = (list: any[]) => list.filter((each) => each.id !== admin.id);
    expect([others(members), audited]).toEqual([others(before[0]), before[1]]);
  });

  /** Keeps only these members, as admins without overrides; the first becomes the owner. */
  const restore = async (ids: string[]) => {
    await other.query('DELETE FROM members WHERE id <> ALL($1)', [ids]);
    await other.query(`UPDATE members SET role = 'admin', overrides = '{}', is_owner = false`);
    await other.query('UPDATE members SET is_owner = true WHERE id = $1', [ids[0]]);
  };
  const expectOrder = async () => {
    const { rows } = await other.query(
      `SELECT count(*) FILTER (WHERE role = 'admin' AND status = 'active'
                AND coalesce((overrides ->> 'manage_members')::bool, true)
                AND coalesce((overrides ->> 'manage_workspace')::bool, true))::int AS admins,
              count(*) FILTER (WHERE is_owner)::int AS owners,
              bool_and(role = 'admin' AND status = 'active') FILTER (WHERE is_owner) AS owner_is_admin
       FROM members`,
    );
    expect(rows[0].admins).toBeGreaterThan(0);
    expect(rows[0]).toMatchObject({ owners: 1, owner_is_admin: true });
  };
  /** No entry has an actor who was demoted, denied or removed by an earlier entry. */
  const expectSequence = async (since: number) => {
    const { rows } = await other.query(
      `SELECT actor_id, action, target_id FROM audit_log WHERE action <> 'owner_change'
       ORDER BY seq OFFSET $1`,
      [since],
    );
    const gone = new Set<string>();
    for (const { actor_id, target_id } of rows) {
      expect(gone.has(actor_id)).toBe(false);
      gone.add(target_id);
    }
    return rows.length;
  };
  const audited = async (): Promise<number> => {
    const { rows } = await other.query(
      `SELECT count(*)::int AS n FROM audit_log WHERE action <> 'owner_change'`,
    );
    return rows[0].n;
  };

  test.each([2, 8])(
    'leave at least one of %i admins who remove, demote or deny each other or themselves',
    async (n) => {
      const ways: [string, string, object?][] = [
        ['DELETE', ''],
        ['PATCH', '', { role: 'editor' }],
        ['PUT', '/permissions', { overrides: { manage_members: false } }],
      ];
      let survivor = await addMember(api, { role: 'admin' });
      for (let round = 0; round < raceRounds(10); round += 1) {
        await restore([survivor.id]);
        const people = [survivor];
        while (people.length < n) {
          people.push(await addMember(api, { role: 'admin', by: survivor.headers }));
        }
        await restore(people.map((each) => each.id));
        const since = await audited();
        const answers = await Promise.all(
          people.map((person, i) => {
            const target = people[round % 2 === 0 ? (i + 1) % n : i];
            const app = [api, second][i % 2]!;
            const url = `/api/members/${target?.id}`;
            const [method, path, body] = ways[round % ways.length]!;
            return app.call(method, `${url}${path}`, body, person.headers);
          }),
        );
        const statuses = answers.map((each) => each.status);
        expect(statuses.every((status) => [200, 204, 400, 401, 403].includes(status))).toBe(true);
        const done = statuses.filter((status) => status < 300).length;
        expect(await expectSequence(since)).toBe(done);
        // If all of them leave, one must stay.
        if (round % 2 === 1) expect(done).toBe(n - 1);
        if (n === 2) expect(done).toBe(1);
        await expectOrder();
        const { rows } = await other.query('SELECT id FROM members WHERE is_owner');
        survivor = people.find((each) => each.id === rows[0].id)!;
      }
    },
  );
});
