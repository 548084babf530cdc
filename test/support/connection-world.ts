import type { useEngineApi } from '#test/api/engine-api.ts';
import {
  type AuthorizationServer,
  CLIENT,
  cookieOf,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';

/** The settings of a service with connections. */
export const CONNECTION_ENV = {
  ENCRYPTION_KEY: 'a key of this test, long enough',
  PUBLIC_URL: 'http://ops.test',
};

/** A service with an authorization server, and an API that accepts its tokens. */
export interface ConnectionWorld {
  server: AuthorizationServer;
  /** Repeats what it got, with 401 for a token that is not valid. */
  target: FakeServer;
  /** The tokens that the target got, oldest first. */
  tokens: () => string[];
  /** Creates a connection to the server and returns its id. */
  connect: (name: string, change?: object) => Promise<string>;
  /** Signs in; `headers` are those of the member. Returns where the sign-in ended. */
  signIn: (id: string, headers?: Record<string, string>) => Promise<string>;
  close: () => Promise<void>;
}

export async function startConnectionWorld(
  call: ReturnType<typeof useEngineApi>['call'],
  options: { accessSeconds?: number } = {},
): Promise<ConnectionWorld> {
  const server = await startAuthorizationServer({
    redirectUris: ['http://ops.test/api/connections/callback'],
    ...options,
  });
  const target = await startHttpServer(async ({ headers, ...request }, response) => {
    const [, token = ''] = /^Bearer (.*)$/.exec(String(headers['authorization'])) ?? [];
    const isValid = await server.accepts(token);
    sendJson(response, isValid ? 200 : 401, { ...request, headers });
  });
  return {
    server,
    target,
    tokens: () =>
      target.seen.map(({ headers }) => String(headers['authorization']).replace('Bearer ', '')),
    connect: async (name, change = {}) => {
      const made = await call('POST', '/api/connections', {
        name,
        ...CLIENT,
        issuer: server.issuer,
        scopes: ['openid', 'offline_access', 'read'],
        authorization_params: { prompt: 'consent' },
        allowed_hosts: [`127.0.0.1:${target.port}`],
        ...change,
      });
      if (made.status !== 201) throw new Error(made.text);
      return made.body.id as string;
    },
    signIn: async (id, headers) => {
      const begun = await call('POST', `/api/connections/${id}/authorize`, undefined, headers);
      if (begun.status !== 200) throw new Error(begun.text);
      const { pathname, search } = new URL(await server.authorize(begun.body.authorization_url));
      const ended = await call('GET', `${pathname}${search}`, undefined, {
        cookie: cookieOf(begun),
      });
      return String(ended.headers['location']);
    },
    close: async () => {
      await Promise.all([server.close(), target.close()]);
    },
  };
}

/** A node that sends a request with the token of a connection. */
export const withToken = (name: string, url: string, change: object = {}) => ({
  id: 'ask',
  kind: 'tool' as const,
  tool_name: 'http_request',
  params: { url, headers: { Authorization: `Bearer {connections.${name}}` } },
  ...change,
});
