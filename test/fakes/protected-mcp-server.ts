import type { ServerResponse } from 'node:http';
import type { AuthorizationServer } from './authorization-server.ts';
import { type FakeServer, type Seen, sendJson } from './http-server.ts';
import { startMcpServer } from './mcp-server.ts';

/** A real MCP server that only accepts tokens of an authorization server for itself. */
export interface ProtectedMcpServer extends FakeServer {
  /** Its address, which is the resource of its tokens. */
  address: string;
  /** What it answers with; changes count at once. */
  says: {
    /** The `WWW-Authenticate` of a 401; undefined: none. */
    challenge: string | undefined;
    /** The metadata at the well-known address of its path; undefined: none. */
    metadata: Record<string, unknown> | undefined;
    /** Answers first; returns whether it did. */
    first: ((request: Seen, response: ServerResponse) => boolean) | undefined;
  };
  /** Says again what it said at first. */
  reset: () => void;
  /** The tokens that reached it, oldest first. */
  tokens: () => string[];
}

const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';

export async function startProtectedMcpServer(
  server: Pick<AuthorizationServer, 'issuer' | 'accepts'>,
): Promise<ProtectedMcpServer> {
  const says: ProtectedMcpServer['says'] = {
    challenge: undefined,
    metadata: undefined,
    first: undefined,
  };
  const fake = await startMcpServer(async (request, response) => {
    if (says.first?.(request, response) === true) return true;
    if (request.url === METADATA_PATH && says.metadata !== undefined) {
      sendJson(response, 200, says.metadata);
      return true;
    }
    if (request.url !== '/mcp') {
      sendJson(response, 404, {});
      return true;
    }
    const [token] = tokensOf(request);
    if (token !== undefined && (await server.accepts(token, `${fake.url}/mcp`))) return false;
    const { challenge } = says;
    response.writeHead(401, challenge === undefined ? {} : { 'www-authenticate': challenge }).end();
    return true;
  });
  const address = `${fake.url}/mcp`;
  const reset = (): void => {
    says.first = undefined;
    says.challenge = `Bearer resource_metadata="${fake.url}${METADATA_PATH}", scope="tools:read tools:call"`;
    says.metadata = {
      resource: address,
      authorization_servers: [server.issuer],
      scopes_supported: ['tools:read'],
    };
  };
  reset();
  return { ...fake, address, says, reset, tokens: () => fake.seen.flatMap(tokensOf) };
}

const tokensOf = ({ headers }: Seen): string[] => {
  const [, token] = /^Bearer (.*)$/.exec(String(headers['authorization'])) ?? [];
  return token === undefined ? [] : [token];
};
