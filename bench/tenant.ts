import { Agent, request } from 'undici';
import { connectDatabase } from '#shared/db/pool.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { query, type Stack } from './stack.ts';

/** A second workspace on the enterprise plan, whose owner is signed in. */
export interface Tenant {
  /** Resolves with the response's JSON, even for an error. */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<unknown>;
  /** Resolves with the response as text. Parsing megabytes would block the process that takes the times. */
  sendForText(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<string>;
  /** The number of responses per status. */
  answers: Map<number, number>;
  /** The ids of the workspace's runs that have not ended. */
  openRuns(): Promise<string[]>;
  /** Cancels them. */
  cancelRuns(): Promise<void>;
  close(): Promise<void>;
}

export async function createTenant(
  { apiUrl, databaseUrl }: Pick<Stack, 'apiUrl' | 'databaseUrl'>,
  name: string,
): Promise<Tenant> {
  const email = `${name.toLowerCase()}@example.net`;
  const password = `the password of ${name}`;
  await makeWorkspace(databaseUrl, { name, email, password });
  const session = await signIn(apiUrl, { email, password });
  const openRuns = () => openRunsOf(databaseUrl, email);
  return {
    ...session,
    openRuns,
    cancelRuns: async () => {
      const cancel = (id: string) => session.send('POST', `/api/runs/${id}/cancel`, {});
      await Promise.all((await openRuns()).map(cancel));
    },
  };
}

async function signIn(
  apiUrl: string,
  credentials: { email: string; password: string },
): Promise<Omit<Tenant, 'openRuns' | 'cancelRuns'>> {
  const dispatcher = new Agent({ connections: 100 });
  const answers = new Map<number, number>();
  let headers: Record<string, string> = { 'content-type': 'application/json' };
  const sendForText: Tenant['sendForText'] = async (method, path, body) => {
    const response = await request(`${apiUrl}${path}`, {
      dispatcher,
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: 120_000,
    });
    const { statusCode } = response;
    answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
    return response.body.text();
  };
  const send: Tenant['send'] = async (method, path, body) =>
    JSON.parse(await sendForText(method, path, body)) as unknown;
  const { token } = (await send('POST', '/api/auth/login', credentials)) as { token: string };
  headers = { ...headers, authorization: `Bearer ${token}` };
  return { send, sendForText, answers, close: () => dispatcher.close() };
}

async function openRunsOf(databaseUrl: string, email: string): Promise<string[]> {
  const runs = await query<{ id: string }>(
    databaseUrl,
    `SELECT r.id FROM runs r JOIN members m USING (workspace_id)
     WHERE m.email = $1 AND r.status IN ('pending', 'running')`,
    [email],
  );
  return runs.map(({ id }) => id);
}

async function makeWorkspace(
  databaseUrl: string,
  { name, email, password }: { name: string; email: string; password: string },
): Promise<void> {
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    await createWorkspace(db, {
      name,
      owner: { name, email, passwordHash: await hashPassword(password) },
    });
  } finally {
    await db.end();
  }
  await query(databaseUrl, `UPDATE workspaces SET plan = 'enterprise'`);
}
