import { WebSocket } from 'ws';
import { z } from 'zod';
import { type Pool, sql } from '#shared/db/pool.ts';

/** Sends a request and expects one of the statuses. */
export type Ask = (
  method: string,
  url: string,
  body?: unknown,
  statuses?: number[],
  headers?: Record<string, string>,
) => Promise<any>;

/** Sends wrong credentials of every kind, all containing the word, wherever a request can have one. */
export async function sendWrongCredentials(
  ask: Ask,
  word: string,
  { email, streamUrl }: { email: string; streamUrl: string },
): Promise<void> {
  const refused = (url: string, body: unknown, ...statuses: number[]) =>
    ask('POST', url, body, statuses, {});
  const login = (body: unknown, status: number) => refused('/api/auth/login', body, status);
  await login({ email, password: word }, 401);
  await login({ email: 'nobody@example.com', password: word }, 401);
  for (const password of [word.repeat(20), { value: word }, [word]]) {
    await login({ email, password }, 400);
  }
  const signup = { name: 'New', email: 'new@example.com', password: word };
  await refused('/api/auth/signup', signup, 201);
  await login({ email: signup.email, password: word }, 403);
  await refused('/api/auth/accept-invite', { invite_code: word, password: word }, 400);
  await refused('/api/auth/accept-invite', { invite_code: word, password: [word] }, 400);
  const change = { current_password: word, new_password: `next ${word}` };
  await ask('POST', '/api/auth/password', change, [400]);

  const wrong: Record<string, string>[] = [
    { 'x-api-key': `ops_${word}` },
    { 'x-api-key': word.repeat(200) },
    { authorization: `Bearer ${word}` },
    { authorization: `Basic ${word}` },
    { cookie: `session=${word}` },
  ];
  for (const headers of wrong) {
    for (const url of ['/api/workflows', '/api/nothing', '/api/runs/run_x/stream']) {
      await ask('GET', url, undefined, [401], headers);
    }
  }
  const socket = new WebSocket(`${streamUrl}?token=${word}`);
  const code = await new Promise((resolve, reject) =>
    socket.on('close', resolve).on('error', reject),
  );
  if (code !== 4401) throw new Error(`the stream was closed with ${String(code)}`);
}

/** Sends credentials in requests whose statements fail for an unforeseen reason. */
export async function failWithCredentials(
  ask: Ask,
  db: Pool,
  { word, key, owner }: { word: string; key: string; owner: { email: string; password: string } },
): Promise<void> {
  const failing = (url: string, body: unknown, headers = {}) =>
    ask('POST', url, body, [500], headers);
  const change = (statement: ReturnType<typeof sql.fragment>) =>
    db.query(sql.type(z.object({}))`${statement}`);
  const renamed = async (table: string, column: string, attempt: () => Promise<unknown>) => {
    const [of, is] = [sql.identifier([table]), sql.identifier([column])];
    await change(sql.fragment`ALTER TABLE ${of} RENAME COLUMN ${is} TO away`);
    await attempt();
    await change(sql.fragment`ALTER TABLE ${of} RENAME COLUMN away TO ${is}`);
  };
  const signup = { name: 'U', email: 'u@example.com', password: word };
  await renamed('members', 'invite_code_hash', async () => {
    await failing('/api/auth/accept-invite', { invite_code: word, password: word });
    await failing('/api/auth/login', owner);
    await failing('/api/auth/signup', signup);
  });
  await renamed('api_keys', 'secret_hash', () =>
    ask('GET', '/api/keys', undefined, [500], { 'x-api-key': key }),
  );
  // For an unknown constraint, Postgres reports the whole row.
  const constrained = async (table: string, attempt: () => Promise<unknown>) => {
    const of = sql.identifier([table]);
    await change(
      sql.fragment`ALTER TABLE ${of} ADD CONSTRAINT unforeseen CHECK (id = '') NOT VALID`,
    );
    await attempt();
    await change(sql.fragment`ALTER TABLE ${of} DROP CONSTRAINT unforeseen`);
  };
  await constrained('members', () => failing('/api/auth/signup', signup));
  await constrained('api_keys', () =>
    failing('/api/keys', { name: 'U', role: 'viewer' }, { 'x-api-key': key }),
  );
  // A row that does not match the schema of its statement.
  await change(sql.fragment`UPDATE members SET overrides = '{"view": "yes"}' WHERE is_owner`);
  await failing('/api/auth/login', owner);
  await change(sql.fragment`UPDATE members SET overrides = '{}' WHERE is_owner`);
}
