import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Answer } from '#test/api/test-api.ts';

/** A real authorization server (oidc-provider) on a free loopback port, whose accounts sign in and consent at once. */
export interface AuthorizationServer {
  issuer: string;
  port: number;
  /** Every request to its token endpoint, oldest first: the grant type and the status. */
  granted: { grant: string; status: number }[];
  /** The `resource` of every request to its token endpoint. */
  resources: string[];
  /** The metadata of clients that have registered. */
  registered: Record<string, unknown>[];
  /** Whether an access token is valid now, and for this resource if one is given. */
  accepts: (token: string, resource?: string) => Promise<boolean>;
  /** Ends every grant, so that no refresh token is valid any more. */
  revokeAll: () => Promise<void>;
  /** Ends every access token, but no refresh token. */
  endAccess: () => Promise<void>;
  /** Answers requests to the token endpoint instead of the server; with undefined, the server does again. */
  intercept: (answer: ((response: ServerResponse) => void) | undefined) => void;
  /** Follows an authorization to the address of the callback, as a browser would. */
  authorize: (authorizationUrl: string) => Promise<string>;
  close: () => Promise<void>;
}

export const CLIENT = {
  client_id: 'workflows',
  client_secret: 'client-secret-of-a-test-0123456789',
};

/** The scopes of a resource. */
const TOOL_SCOPES = 'tools:read tools:call';
const OF_MCP = {
  registration: { enabled: true },
  resourceIndicators: {
    enabled: true,
    useGrantedResource: () => false,
    getResourceServerInfo: (_context: unknown, resource: string) => ({
      scope: TOOL_SCOPES,
      audience: resource,
      accessTokenFormat: 'opaque' as const,
    }),
  },
};

export async function startAuthorizationServer({
  redirectUris,
  accessSeconds = 3_600,
  isOfMcp = false,
}: {
  redirectUris: string[];
  accessSeconds?: number;
  /** Whether clients can register, and get tokens for one resource each. */
  isOfMcp?: boolean;
}): Promise<AuthorizationServer> {
  let handle: (incoming: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((incoming, response) => handle(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients: [
          {
            ...CLIENT,
            redirect_uris: redirectUris,
            grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
            token_endpoint_auth_method: 'client_secret_basic',
          },
        ],
        scopes: ['openid', 'offline_access', 'read'],
        findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          ...(isOfMcp ? OF_MCP : {}),
        },
        issueRefreshToken: () => true,
        rotateRefreshToken: true,
        pkce: { required: () => true },
        interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
        cookies: { keys: ['a key of this test'] },
        ttl: {
          AccessToken: accessSeconds,
          ClientCredentials: accessSeconds,
          Grant: 3_600,
          Session: 3_600,
          Interaction: 600,
          RefreshToken: 3_600,
          IdToken: 3_600,
        },
      }),
  );
  const granted: AuthorizationServer['granted'] = [];
  const resources: string[] = [];
  const registered: Record<string, unknown>[] = [];
  provider.on('registration_create.success', (_context, client) => {
    registered.push(client.metadata());
  });
  const access = new Set<string>();
  const grants = new Set<string>();
  const ended = new Set<string>();
  provider.on('access_token.saved', (token) => {
    access.add(token.jti);
    if (token.grantId !== undefined) grants.add(token.grantId);
  });
  let interceptor: ((response: ServerResponse) => void) | undefined;
  const callback = provider.callback();
  const interact = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const details = await provider.interactionDetails(incoming, response);
    const accountId = details.session?.accountId ?? 'account';
    const { client_id: clientId, resource } = details.params;
    const grant = new provider.Grant({ accountId, clientId: String(clientId) });
    grant.addOIDCScope('openid offline_access read');
    if (typeof resource === 'string') grant.addResourceScope(resource, TOOL_SCOPES);
    const grantId = await grant.save();
    const result = { login: { accountId }, consent: { grantId } };
    await provider.interactionFinished(incoming, response, result, {
      mergeWithLastSubmission: true,
    });
  };
  handle = (incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', issuer);
    if (pathname.startsWith('/interaction/')) return void interact(incoming, response);
    if (pathname === '/token') {
      const kept = { grant: '', status: 0 };
      granted.push(kept);
      response.on('finish', () => void (kept.status = response.statusCode));
      incoming.on('data', (chunk) => {
        const sent = new URLSearchParams(String(chunk));
        kept.grant = sent.get('grant_type') ?? kept.grant;
        const resource = sent.get('resource');
        if (resource !== null) resources.push(resource);
      });
      incoming.pause();
      if (interceptor !== undefined) return interceptor(response);
    }
    void callback(incoming, response);
  };
  return {
    issuer,
    port,
    granted,
    resources,
    registered,
    accepts: async (token, resource) => {
      if (ended.has(token)) return false;
      const found =
        (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
      return found !== undefined && (resource === undefined || found.aud === resource);
    },
    revokeAll: async () => {
      for (const id of grants) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
    },
    endAccess: async () => {
      for (const id of access) ended.add(id);
    },
    intercept: (answer) => {
      interceptor = answer;
    },
    authorize: (url) => follow(url, issuer),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The server warns that it keeps its keys and tokens in memory. */
function quietly<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

/** Follows redirects within the server, with its cookies, to the first address elsewhere. */
async function follow(start: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hops = 0; hops < 10; hops += 1) {
    if (!url.startsWith(issuer)) return url;
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${answer.status} at ${url}: ${await answer.text()}`);
    url = new URL(location, url).href;
  }
  throw new Error(`The authorization does not end: ${url}`);
}

/** The cookie that an authorization has set, as a browser sends it back. */
export const cookieOf = ({ headers }: Pick<Answer, 'headers'>): string =>
  String([headers['set-cookie']].flat()[0]).split(';')[0] ?? '';
