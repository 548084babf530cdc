import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newEmail, PASSWORD } from '#test/support/people.ts';
import { useTestApi } from '#test/api/test-api.ts';

// Anyone can sign up. What anyone can fill must keep room for the others.

const api = useTestApi({ AUTH_MODE: 'required' });
beforeEach(async () => run(sql.fragment`DELETE FROM members WHERE status = 'pending'`));

const run = (statement: ReturnType<typeof sql.fragment>) =>
  api.db.query(sql.type(z.object({}))`${statement}`);
const signUp = (from: string, headers: Record<string, string> = {}) =>
  api.send({
    method: 'POST',
    url: '/api/auth/signup',
    remoteAddress: from,
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ name: 'x', email: newEmail(), password: PASSWORD }),
  });
/** Adds pending sign-ups from the network of the only one so far, up to `n` in total. */
const fill = (n: number) =>
  run(sql.fragment`
    INSERT INTO members (id, workspace_id, name, email, role, status, signup_network)
    SELECT 'mem_w' || i, workspace_id, 'x', i || '@waits.example.com', 'viewer', 'pending', signup_network
    FROM members, generate_series(2, ${n}::int) i WHERE status = 'pending'`);
const waiting = () =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM members WHERE status = 'pending'`);

test.each([
  ['IPv4', '203.0.113.1', '203.0.113.250', '203.0.114.1'],
  ['IPv6', '2001:db8:1:1::1', '2001:db8:1:ffff::1', '2001:db8:2::1'],
  ['IPv4 in IPv6', '::ffff:203.0.113.1', '203.0.113.2', '::ffff:203.0.114.1'],
])('an %s network uses up only its own sign-up limit', async (_kind, first, near, far) => {
  expect((await signUp(first)).status).toBeLessThan(300);
  await fill(50);
  const refused = await signUp(near, { 'x-forwarded-for': far });
  expect([refused.status, refused.body.detail]).toEqual([
    429,
    'Too many sign-ups from this network wait for approval; try again after an administrator has reviewed them',
  ]);
  expect((await signUp(far)).status).toBeLessThan(300);
  await run(sql.fragment`DELETE FROM members WHERE id = 'mem_w7'`);
  expect((await signUp(near)).status).toBeLessThan(300);
});

test('concurrent sign-ups from one network stop at the limit', async () => {
  expect((await signUp('198.51.100.1')).status).toBeLessThan(300);
  await fill(47);
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, n) => signUp(`198.51.100.${n + 10}`)),
  );
  expect(answers.filter(({ status }) => status < 300)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(6);
  expect(await waiting()).toBe(50);
});
