import { createHash, randomBytes } from 'node:crypto';
import type { CapabilityOverrides, Role } from '#shared/people/capabilities.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { useStage } from '#test/support/stage.ts';

const SECRET_KEY = 'signs the sessions of these tests';
export const CALLBACK = 'http://127.0.0.1:41999/callback';

export interface Reply {
  status: number;
  headers: Headers;
  // Tests read responses of every shape.
  body: any;
}

export interface Person {
  id: string;
  session: Record<string, string>;
  key: Record<string, string>;
}

type Form = Record<string, string | undefined>;

export interface AuthorizationStage extends Service {
  mcpUrl: string;
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** Sends a form without its undefined fields, as the token endpoint reads it. */
  post(path: string, form: Form, headers?: Record<string, string>): Promise<Reply>;
  person(role?: Role, overrides?: CapabilityOverrides, workspaceId?: string): Promise<Person>;
  /** Registers a client and returns its id. */
  register(metadata?: object): Promise<string>;
  /** What a person does at the page of this address: allows, with the scopes that it proposes or these. */
  allow(page: URL, person: Person, scopes?: readonly string[]): Promise<string>;
  /** A code for a client, with what it is exchanged with. */
  codeFor(person: Person, change?: Form, scopes?: readonly string[]): Promise<Form>;
  /** The tokens of a new client. */
  tokensFor(
    person: Person,
    scope?: string,
  ): Promise<{ access: string; refresh: string; clientId: string }>;
  /** Calls a tool with an access token. */
  callTool(token: string, name: string, args?: object): Promise<Reply>;
}

export const newVerifier = (): string => randomBytes(32).toString('base64url');
export const challengeFor = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

export async function startAuthorizationStage(
  env: Record<string, string> = {},
): Promise<AuthorizationStage> {
  const service = await startService({ AUTH_MODE: 'required', SECRET_KEY, ...env });
  const { apiUrl, engine } = service;
  const mcpUrl = `${apiUrl}/api/mcp`;
  const tokens = createSessionTokens(SECRET_KEY);
  const send: AuthorizationStage['send'] = async (method, path, body, headers = {}) =>
    replyOf(
      await fetch(new URL(path, apiUrl), {
        method,
        redirect: 'manual',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const post: AuthorizationStage['post'] = async (path, form, headers = {}) => {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(form)) {
      if (value !== undefined) body.append(name, value);
    }
    return replyOf(await fetch(new URL(path, apiUrl), { method: 'POST', body, headers }));
  };
  const register = async (metadata: object = {}) => {
    const given = { client_name: 'Test client', redirect_uris: [CALLBACK], ...metadata };
    return (await send('POST', '/api/oauth/register', given)).body.client_id as string;
  };
  const allow: AuthorizationStage['allow'] = async (page, { session }, scopes) => {
    const request = Object.fromEntries(page.searchParams);
    const preview = await send('POST', '/api/authorizations/preview', { request }, session);
    if (preview.status !== 200) throw new Error(JSON.stringify(preview.body));
    const proposed = preview.body.scopes
      .filter(({ selected }: { selected: boolean }) => selected)
      .map(({ scope }: { scope: string }) => scope);
    const chosen = { request, scopes: scopes ?? proposed };
    const granted = await send('POST', '/api/authorizations', chosen, session);
    if (granted.status !== 201) throw new Error(JSON.stringify(granted.body));
    return granted.body.redirect_to;
  };
  const codeFor: AuthorizationStage['codeFor'] = async (person, change = {}, scopes) => {
    const verifier = newVerifier();
    const asked: Form = {
      client_id: change['client_id'] ?? (await register()),
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge: challengeFor(verifier),
      code_challenge_method: 'S256',
      resource: mcpUrl,
      ...change,
    };
    const page = new URL(`${apiUrl}/authorize`);
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined) page.searchParams.set(name, value);
    }
    const callback = new URL(await allow(page, person, scopes));
    return {
      grant_type: 'authorization_code',
      client_id: asked['client_id'],
      code: callback.searchParams.get('code') ?? undefined,
      redirect_uri: asked['redirect_uri'],
      code_verifier: verifier,
      resource: mcpUrl,
    };
  };
  return {
    ...service,
    ...{ mcpUrl, send, post, register, allow, codeFor },
    person: async (role = 'admin', overrides = {}, workspaceId = engine.actor.workspaceId) => {
      const { id, headers } = await addCaller({ db: engine.db, workspaceId }, { role, overrides });
      const { token } = await tokens.issue({ memberId: id, epoch: 1 });
      return { id, session: bearer(token), key: headers };
    },
    tokensFor: async (person, scope) => {
      const form = await codeFor(person, { scope }, scope?.split(' '));
      const { status, body } = await post('/api/oauth/token', form);
      if (status !== 200) throw new Error(JSON.stringify(body));
      return {
        access: body.access_token,
        refresh: body.refresh_token,
        clientId: form['client_id'] ?? '',
      };
    },
    callTool: async (token, name, args = {}) =>
      send(
        'POST',
        '/api/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        bearer(token),
      ),
  };
}

/** The service with sign-in required, for all tests of a file. */
export const useAuthorizations = (env?: Record<string, string>): AuthorizationStage =>
  useStage(() => startAuthorizationStage(env));
