import { createHmac, hkdfSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { hashInviteCode } from '#shared/db/people/invite-codes.ts';
import { sql } from '#shared/db/pool.ts';
import { ensureOwnerPassword } from '#shared/operations/people/sign-in.ts';
import { createSessionTokens, SESSION_SECONDS } from '#shared/platform/secrets/session-tokens.ts';
import { startTestApi, useTestApi } from '#test/api/test-api.ts';
import { raceRounds, soakDescribe, soakTest } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const SECRET_KEY = 'a secret of the tests that is long enough';
const PASSWORD = 'correct horse battery';
const WRONG = { detail: 'Wrong email or password' };
const INVALID = { detail: 'The credential is invalid or revoked' };

const api = useTestApi({ AUTH_MODE: 'required', SECRET_KEY });
beforeAll(async () => {
  await ensureOwnerPassword(api.db, PASSWORD);
});

let made = 0;
/** An unused email address, and a client address in a block without earlier attempts. */
const fresh = () => {
  made += 1;
  return { email: `Person.${made}@Example.com`, from: `10.1.${made >> 8}.${made & 255}` };
};
const post = async (url: string, payload: unknown, remoteAddress = '127.0.0.1') =>
  api.send({
    method: 'POST',
    url,
    remoteAddress,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(payload),
  });
const login = async (email: string, password: string, from?: string) =>
  post('/api/auth/login', { email, password }, from);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const me = async (headers: Record<string, string>) =>
  api.call('GET', '/api/auth/me', undefined, headers);

const signUp = async (email: string) =>
  post('/api/auth/signup', { name: 'Ada', email, password: PASSWORD }, fresh().from);
const addMember = async (role = 'viewer') => {
  const { email, from } = fresh();
  const { id } = (await signUp(email)).body;
  await api.db.query(sql.unsafe`
    UPDATE members SET status = 'active', role = ${role} WHERE id = ${id}
  `);
  const { token } = (await login(email, PASSWORD, from)).body;
  return { id: id as string, email, from, token: token as string };
};
const invite = async (code: string, goodFor = '1 day') => {
  const { email } = fresh();
  await api.db.query(sql.unsafe`
    INSERT INTO members (id, workspace_id, name, email, role, status, invite_code_hash, invite_expires_at)
    VALUES (${`mem_${code}`}, ${api.workspaceId}, 'Invited', ${email}, 'editor', 'invited',
            ${sql.binary(hashInviteCode(code))}, now() + ${goodFor}::interval)
  `);
  return { id: `mem_${code}`, email };
};
const auditOf = async (memberId: string) =>
  api.db.anyFirst(sql.type(z.object({ action: z.string() }))`
    SELECT action FROM audit_log WHERE target_id = ${memberId} ORDER BY seq
  `);

/**
 * Compares the times of two requests, by turns. Other load only adds time, so the fastest of each is closest to its
 * cost. Hashing is most of it: a request without a hash takes a tenth of the time.
 */
async function ratioOfTimes(
  rounds: number,
  one: (round: number) => Promise<unknown>,
  other: (round: number) => Promise<unknown>,
): Promise<number> {
  const time = async (work: Promise<unknown>) => {
    const began = performance.now();
    await work;
    return performance.now() - began;
  };
  const fastest = { one: Infinity, other: Infinity };
  for (let round = 0; round < rounds; round += 1) {
    fastest.one = Math.min(fastest.one, await time(one(round)));
    fastest.other = Math.min(fastest.other, await time(other(round)));
  }
  return fastest.one / fastest.other;
}

describe('signing in', () => {
  test('returns a seven-day token with the capabilities of the member', async () => {
    const before = Date.now();
    const { status, body } = await login('OWNER@localhost', PASSWORD);
    expect([status, body.member.email, body.member.role]).toEqual([
      200,
      'owner@localhost',
      'admin',
    ]);
    const issued = Date.parse(body.expires_at) / 1000 - SESSION_SECONDS;
    // In whole seconds.
    expect(issued).toBeGreaterThan(before / 1000 - 1);
    expect(issued).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    const { body: identity } = await me(bearer(body.token));
    expect(identity).toMatchObject({
      id: body.member.id,
      email: 'owner@localhost',
      role: 'admin',
      credential: 'session',
      workspace_id: api.workspaceId,
    });
    expect(Object.values(identity.capabilities)).toEqual(Array(10).fill(true));
    expect((await api.call('GET', '/api/workflows')).status).toBe(401);
  });

  test('refuses an unknown email, a wrong password and an invitee with the same error', async () => {
    const { email: invited } = await invite('inv_not_yet');
    for (const email of ['owner@localhost', 'nobody@example.com', invited]) {
      const { status, body, headers } = await login(email, 'wrong password', fresh().from);
      expect([status, body, headers['www-authenticate']]).toEqual([401, WRONG, 'Bearer']);
    }
  });

  soakTest('takes as long for an unknown email as for a wrong password', 120_000, async () => {
    const accounts: string[] = [];
    for (let n = 0; n < 25; n += 1) accounts.push((await signUp(fresh().email)).body.email);
    const ratio = await ratioOfTimes(
      accounts.length,
      (round) => login(`nobody${round}@example.com`, 'wrong password', fresh().from),
      (round) => login(accounts[round]!, 'wrong password', fresh().from),
    );
    expect(ratio).toBeGreaterThan(0.3);
    expect(ratio).toBeLessThan(3);
    // 75 hashes, one after the other.
  });

  test('reveals a pending account only with the correct password', async () => {
    const { email, from } = fresh();
    const { status, body } = await signUp(email);
    expect([status, body.status, body.role, body.invite_code]).toEqual([
      201,
      'pending',
      'viewer',
      null,
    ]);
    expect(await auditOf(body.id)).toEqual(['signup']);
    expect((await login(email, 'wrong password', from)).status).toBe(401);
    const refused = await login(email, PASSWORD, from);
    expectRefusal(refused, 403, 'This account is waiting for approval by an administrator');
  });

  soakTest('is limited per account and address, also for concurrent attempts', async () => {
    const { email, from } = await addMember();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => login(email, 'wrong password', from)),
    );
    const counted = Object.groupBy(answers, (answer) => String(answer.status));
    expect([counted['401']?.length, counted['429']?.length]).toEqual([10, 20]);
    const refused = await login(email, PASSWORD, from);
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers['retry-after']);
    expect(wait > 800 && wait <= 900).toBe(true);
    // This locks out no one else: neither the member from another address nor others at the same address.
    expect((await login(email, PASSWORD, fresh().from)).status).toBe(200);
    expect((await login((await addMember()).email, PASSWORD, from)).status).toBe(200);
  });

  soakTest('is limited per account across all addresses', 30_000, async () => {
    const { email } = await addMember();
    const statuses: number[] = [];
    for (let at = 0; at < 105; at += 1) {
      statuses.push((await login(email, 'wrong password', `10.2.0.${at}`)).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(-5)).toEqual([429, 429, 429, 429, 429]);
  });

  soakTest('counts an IPv6 /64 network as one address', async () => {
    const statuses: number[] = [];
    const { email } = await addMember();
    for (let at = 0; at < 12; at += 1) {
      statuses.push((await login(email, 'wrong password', `2001:db8:1:2::${at + 1}`)).status);
    }
    expect(statuses.slice(-2)).toEqual([429, 429]);
    expect((await login(email, PASSWORD, '2001:db8:1:3::1')).status).toBe(200);
  });

  soakTest('works again when the window ends', async () => {
    const { email, from } = await addMember();
    for (let at = 0; at < 11; at += 1) await login(email, 'wrong password', from);
    expect((await login(email, PASSWORD, from)).status).toBe(429);
    await api.db.query(sql.unsafe`UPDATE sign_in_failures SET window_ends_at = now()`);
    expect((await login(email, PASSWORD, from)).status).toBe(200);
  });
});

describe('signing up', () => {
  test('creates one member per email, in any letter case, also concurrently', async () => {
    const { email } = fresh();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        signUp(at % 2 === 0 ? email.toUpperCase() : email.toLowerCase()),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(8);
    const made = await api.db.anyFirst(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM members WHERE lower(email) = lower(${email})
    `);
    expect(made).toHaveLength(1);
    expect(answers.map(({ body }) => body.id)).toContain(made[0]);
  });

  test('looks the same for a known address, and changes nothing', async () => {
    const known = [
      (await addMember('editor')).email,
      (await invite('inv_known')).email,
      (await signUp(fresh().email)).body.email,
    ];
    const count = z.object({ members: z.number(), entries: z.number() });
    const total = () =>
      api.db.one(sql.type(count)`
        SELECT (SELECT count(*) FROM members) AS members, (SELECT count(*) FROM audit_log) AS entries
      `);
    const before = await total();
    const answers = [];
    for (const email of known) answers.push(await signUp(email));
    expect(await total()).toEqual(before);
    const unknown = await signUp(fresh().email);
    const shape = ({ status, body, headers }: typeof unknown) => [
      status,
      Object.entries(body).map(([name, value]) =>
        ['id', 'email', 'created_at', 'etag'].includes(name)
          ? [name, String(value).replaceAll(/[\w-]/g, 'x').slice(0, 10)]
          : [name, value],
      ),
      Object.keys(headers).sort(),
    ];
    for (const answer of answers) {
      expect(shape(answer)).toEqual(shape(unknown));
      expect(answer.body.id).toHaveLength(unknown.body.id.length);
    }
  });

  soakTest('takes equally long for a known address', 30_000, async () => {
    const { email } = await addMember();
    const ratio = await ratioOfTimes(
      15,
      () => signUp(email),
      () => signUp(fresh().email),
    );
    expect(ratio).toBeGreaterThan(0.3);
    expect(ratio).toBeLessThan(3);
  });

  soakTest('is limited per address and by pending sign-ups', 30_000, async () => {
    const from = '10.9.9.9';
    const statuses = await Promise.all(
      Array.from({ length: 105 }, async () => {
        const body = { name: 'Ada', email: 'taken@example.com', password: PASSWORD };
        return (await post('/api/auth/signup', body, from)).status;
      }),
    );
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    await api.db.query(sql.unsafe`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      SELECT 'mem_wait' || n, ${api.workspaceId}, 'W', 'wait' || n || '@example.com', 'viewer', 'pending'
      FROM generate_series(1, 1000) n
    `);
    const { status, body } = await signUp(fresh().email);
    expectRefusal({ status, body }, 429, 'Too many sign-ups wait for approval; try again later');
    await api.db.query(sql.unsafe`DELETE FROM members WHERE id LIKE 'mem_wait%'`);
  });
});

describe('an invitation', () => {
  const accept = async (invite_code: string, rest: object = {}) =>
    post('/api/auth/accept-invite', { invite_code, password: PASSWORD, ...rest });

  test('is accepted once among concurrent requests, and signs in', async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const { id, email } = await invite(`inv_once${round}`);
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => accept(`inv_once${round}`, { name: 'Grace' })),
      );
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400]);
      const { token, member } = answers.find((answer) => answer.status === 200)!.body;
      expect(member).toMatchObject({ id, email, name: 'Grace', status: 'active', role: 'editor' });
      expect((await me(bearer(token))).body.id).toBe(id);
      expect((await login(email, PASSWORD, fresh().from)).status).toBe(200);
      expect(await auditOf(id)).toEqual(['accept_invite']);
    }
  }, 30_000);

  test.each(['inv_unknown', 'INV_ONCE1', "' OR 1=1 --", 'x'.repeat(200)])(
    'fails with a wrong code (%#)',
    async (code) => {
      const { status, body } = await accept(code);
      expectRefusal(
        { status, body },
        400,
        'The invite code is invalid, expired or already used; ask for a new one',
      );
    },
  );

  test('is refused after it expires', async () => {
    const { id } = await invite('inv_late', '300 ms');
    await invite('inv_early');
    await new Promise((resolve) => setTimeout(resolve, 400));
    const answer = await accept('inv_late');
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('expired')]);
    expect((await accept('inv_early')).status).toBe(200);
    expect(await auditOf(id)).toEqual([]);
  });

  test('keeps the invited name by default, and requires a ten-character password', async () => {
    await invite('inv_short');
    expect((await accept('inv_short', { password: 'too short' })).body.detail).toMatch(/password/);
    expect((await accept('inv_short')).body.member.name).toBe('Invited');
  });
});

describe('a new password', () => {
  const change = async (token: string, current_password: string, new_password: string) =>
    api.call(
      'POST',
      '/api/auth/password',
      { current_password, new_password },
      { ...bearer(token), 'x-forwarded-for': '1.2.3.4' },
    );

  test('ends all sessions and returns a new one', async () => {
    const { id, email, from, token } = await addMember();
    const other = (await login(email, PASSWORD, from)).body.token;
    const { status, body } = await change(token, PASSWORD, 'another horse battery');
    expect(status).toBe(200);
    expect((await me(bearer(token))).status).toBe(401);
    expect((await me(bearer(other))).status).toBe(401);
    expect((await me(bearer(body.token))).status).toBe(200);
    expect((await login(email, PASSWORD, from)).status).toBe(401);
    expect((await login(email, 'another horse battery', from)).status).toBe(200);
    expect(await auditOf(id)).toEqual(['signup', 'password_change']);
  });

  soakTest('is set once by concurrent changes', 30_000, async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const { token } = await addMember();
      const answers = await Promise.all(
        [1, 2, 3].map((n) => change(token, PASSWORD, `changed to number ${n}`)),
      );
      const won = answers.filter((answer) => answer.status === 200);
      expect(won).toHaveLength(1);
      expect((await me(bearer(won[0]!.body.token))).status).toBe(200);
    }
  });

  test('requires the current password, with limited attempts', async () => {
    const { token } = await addMember();
    const statuses: number[] = [];
    for (let at = 0; at < 11; at += 1) {
      statuses.push((await change(token, `wrong password ${at}`, 'another horse')).status);
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    expect((await change(token, PASSWORD, 'another horse')).status).toBe(429);
  });

  test('requires a session', async () => {
    const open = await startTestApi();
    const answer = await open.call('POST', '/api/auth/password', {
      current_password: 'x',
      new_password: 'another horse battery',
    });
    expect(answer.status).toBe(403);
    await open.stop();
  });
});

describe('a session token', () => {
  const segments = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const key = new Uint8Array(hkdfSync('sha256', SECRET_KEY, '', 'session tokens', 32));
  const now = Math.floor(Date.now() / 1000);
  const claims = (member: { id: string }, changed: object = {}) => ({
    sub: member.id,
    epoch: 1,
    iss: 'durable-workflows',
    aud: 'session',
    iat: now,
    exp: now + 3600,
    ...changed,
  });
  const sign = (
    payload: object,
    header: object = { alg: 'HS256' },
    secret = key,
    hash = 'sha256',
  ) => {
    const head = `${segments(header)}.${segments(payload)}`;
    return `${head}.${createHmac(hash, secret).update(head).digest('base64url')}`;
  };

  test('is accepted with the right key and claims', async () => {
    expect((await me(bearer(sign(claims(await addMember()))))).status).toBe(200);
  });

  test('is refused if forged, malformed or expired', async () => {
    const member = await addMember();
    const good = sign(claims(member));
    const [head = '', payload = '', signature = ''] = good.split('.');
    const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    const forged: Record<string, string> = {
      'another secret': sign(claims(member), { alg: 'HS256' }, Buffer.from(SECRET_KEY)),
      'another algorithm': sign(claims(member), { alg: 'HS512' }, key, 'sha512'),
      'algorithm none': `${segments({ alg: 'none' })}.${payload}.`,
      'algorithm none, signed': `${segments({ alg: 'none' })}.${payload}.${signature}`,
      'algorithm in other case': sign(claims(member), { alg: 'hs256' }),
      'a critical header': sign(claims(member), { alg: 'HS256', crit: ['x'], x: 1 }),
      expired: sign(claims(member, { iat: now - 7200, exp: now - 3600 })),
      'from the future': sign(claims(member, { iat: now + 3600, exp: now + 7200 })),
      'not valid yet': sign(claims(member, { nbf: now + 3600 })),
      'older than a session lasts': sign(
        claims(member, { iat: now - SESSION_SECONDS - 60, exp: now + 3600 }),
      ),
      'without an end': sign(claims(member, { exp: undefined })),
      'without a beginning': sign(claims(member, { iat: undefined })),
      'of another use': sign(claims(member, { aud: 'webhook' })),
      'of another service': sign(claims(member, { iss: 'someone' })),
      'of an earlier epoch': sign(claims(member, { epoch: 0 })),
      'of a later epoch': sign(claims(member, { epoch: 2 })),
      'with an epoch as text': sign(claims(member, { epoch: '1' })),
      'of nobody': sign(claims({ id: 'mem_unknown' })),
      'without a member': sign(claims(member, { sub: undefined })),
      'with a list of members': sign(claims(member, { sub: [member.id] })),
      'no signature': `${head}.${payload}.`,
      'two segments': `${head}.${payload}`,
      'four segments': `${good}.x`,
      'another payload': `${head}.${segments(claims({ id: 'mem_x' }))}.${signature}`,
      'a flipped header': `${flip(head)}.${payload}.${signature}`,
      'a flipped payload': `${head}.${flip(payload)}.${signature}`,
      'a flipped signature': `${head}.${payload}.${flip(signature)}`,
      truncated: good.slice(0, -1),
      'not base64': `${head}.${payload}.%%%`,
      huge: `${good}${'A'.repeat(9_000)}`,
      'an API key': 'ops_0123456789abcdef',
      dots: '..',
    };
    for (const [what, token] of Object.entries(forged)) {
      const { status, body, headers } = await me(bearer(token));
      expect([what, status, body]).toEqual([what, 401, INVALID]);
      expect(headers['www-authenticate']).toBe('Bearer');
    }
  });

  test('is read only from a bearer header', async () => {
    const { token } = await addMember();
    for (const authorization of [`bearer ${token}`, `BEARER  ${token}`]) {
      expect((await me({ authorization })).status).toBe(200);
    }
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Token ${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token},Bearer ${token}`,
      `Bearer\t${token}`,
    ]) {
      expect([authorization, (await me({ authorization })).status]).toEqual([authorization, 401]);
    }
    expect((await api.call('GET', `/api/auth/me?token=${token}`)).status).toBe(401);
  });

  test('is refused if its member is pending or deleted', async () => {
    const { id, token } = await addMember();
    await api.db.query(sql.unsafe`UPDATE members SET status = 'pending' WHERE id = ${id}`);
    expect((await me(bearer(token))).status).toBe(401);
    await api.db.query(sql.unsafe`DELETE FROM members WHERE id = ${id}`);
    expect((await me(bearer(token))).status).toBe(401);
  });

  test('follows capability changes immediately', async () => {
    const { id, token } = await addMember('viewer');
    const create = async () =>
      (await api.call('POST', '/api/workflows', { name: 'x' }, bearer(token))).status;
    expect(await create()).toBe(403);
    await api.db.query(sql.unsafe`UPDATE members SET role = 'editor' WHERE id = ${id}`);
    expect(await create()).toBe(201);
    await api.db.query(sql.unsafe`
      UPDATE members SET overrides = '{"create_edit_workflows": false}' WHERE id = ${id}
    `);
    expect(await create()).toBe(403);
  });

  test('is honored in open mode, and refused if invalid', async () => {
    const open = await startTestApi({ SECRET_KEY, OWNER_EMAIL: 'boss@example.com' });
    await ensureOwnerPassword(open.db, PASSWORD);
    const { body } = await open.call('POST', '/api/auth/login', {
      email: 'boss@example.com',
      password: PASSWORD,
    });
    const who = async (headers?: Record<string, string>) =>
      open.call('GET', '/api/auth/me', undefined, headers);
    expect((await who()).body).toMatchObject({ email: 'boss@example.com', credential: 'none' });
    expect((await who(bearer(body.token))).body.credential).toBe('session');
    expect((await who(bearer(`${body.token}x`))).status).toBe(401);
    // A member of another installation with the same secret.
    expect((await me(bearer(body.token))).status).toBe(401);
    await open.stop();
  });

  soakTest('is valid in other processes only with the same secret', async () => {
    const member = { memberId: 'mem_x', epoch: 3 };
    const { token } = await createSessionTokens('one').issue(member);
    expect(await createSessionTokens('one').verify(token)).toMatchObject(member);
    expect(await createSessionTokens('other').verify(token)).toBeUndefined();
    const ofBoot = createSessionTokens(undefined);
    const { token: short } = await ofBoot.issue(member);
    expect(await ofBoot.verify(short)).toMatchObject(member);
    expect(await createSessionTokens(undefined).verify(short)).toBeUndefined();
    expect(
      await ofBoot.verify(await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(key)),
    ).toBeUndefined();
  });
});

soakDescribe('the owner', () => {
  test('gets an initial password once, also concurrently', async () => {
    const other = await startTestApi({ AUTH_MODE: 'required' });
    const set = await Promise.all(
      Array.from({ length: 5 }, () => ensureOwnerPassword(other.db, undefined)),
    );
    const [winner, ...more] = set.filter((each) => each !== undefined);
    expect(more).toEqual([]);
    const signedIn = async (password: string) =>
      (await other.call('POST', '/api/auth/login', { email: 'owner@localhost', password })).status;
    expect(await signedIn(winner?.generated ?? '')).toBe(200);
    expect(await ensureOwnerPassword(other.db, 'another horse battery')).toBeUndefined();
    expect(await signedIn('another horse battery')).toBe(401);
    await other.stop();
  });
});
