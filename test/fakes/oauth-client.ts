import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

/** A client of the SDK with its OAuth provider, and the person who would use the browser. */
export interface SignedInClient {
  client: Client;
  provider: StoredProvider;
  /** The address of the page that the client opened. */
  page: URL;
  /** Where the page sent the browser. */
  callback: URL;
}

export type StoredProvider = OAuthClientProvider & {
  stored: { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; page?: URL };
};

export interface ProviderOptions {
  redirectUrl?: string;
  name?: string;
  scope?: string;
  /** The URL of a metadata document: then the client does not register. */
  documentUrl?: string;
}

/** A provider that keeps everything in memory, as a client of one process does. */
export function createProvider(options: ProviderOptions = {}): StoredProvider {
  const { redirectUrl = 'http://127.0.0.1:41999/callback', name = 'Test client' } = options;
  const stored: StoredProvider['stored'] = {};
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  return {
    stored,
    redirectUrl,
    ...(options.documentUrl === undefined ? {} : { clientMetadataUrl: options.documentUrl }),
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(options.scope === undefined ? {} : { scope: options.scope }),
    },
    state: () => 'state & more',
    clientInformation: () => stored.client,
    saveClientInformation: (client) => {
      stored.client = client;
    },
    tokens: () => stored.tokens,
    saveTokens: (tokens) => {
      stored.tokens = tokens;
    },
    redirectToAuthorization: (page) => {
      stored.page = page;
    },
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      discovered = state;
    },
    discoveryState: () => discovered,
    invalidateCredentials: (scope) => {
      if (scope === 'all' || scope === 'client') delete stored.client;
      if (scope === 'all' || scope === 'tokens') delete stored.tokens;
    },
  };
}

export const connectWith = async (url: string, provider: StoredProvider): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
  return client;
};

/** Connects a client that has no tokens yet. `browse` is the person at the page: it returns where the page leads. */
export async function signInWith(
  url: string,
  provider: StoredProvider,
  browse: (page: URL) => Promise<string>,
): Promise<SignedInClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const refused = await new Client({ name: 'test', version: '1.0.0' }).connect(transport).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { page } = provider.stored;
  if (!(refused instanceof UnauthorizedError) || page === undefined) {
    throw new Error('the client did not have to sign in', { cause: refused });
  }
  const callback = new URL(await browse(page));
  await transport.finishAuth(callback.searchParams);
  return { client: await connectWith(url, provider), provider, page, callback };
}
