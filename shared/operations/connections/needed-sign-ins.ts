import type { Connection } from '#shared/contract/connections/connection.ts';
import type { NeededSignIn } from '#shared/contract/connections/needed-sign-in.ts';
import { listConnections } from '#shared/db/connections/connections.ts';
import type { NodeError } from '#shared/node-error.ts';
import type { Actor } from '#shared/people/actor.ts';
import { TokenError } from '#shared/platform/calls/oauth.ts';
import {
  findProtectedResource,
  type ProtectedResource,
  spellingOf,
} from '#shared/platform/calls/protected-resource.ts';
import { connectionPage, CONNECTIONS_PAGE } from '#shared/values/connection-callback.ts';
import { type ServerDeps, withinTime } from './mcp-servers.ts';

/** For all requests together; with those of the import, below a handler's timeout. */
const FIND_MS = 6_000;

/** The refusal of an MCP server that requires sign-in: why, for people, and the sign-in, if it is known. */
export interface SignInRefusal {
  reason: string;
  needed?: NeededSignIn;
}

/**
 * What is needed after a call of an MCP server has failed: a sign-in to the connection that the call used, or what the
 * server answered with 401 asks for. `names` are the connections of the call. Undefined if it failed for another reason,
 * or the server says nothing about sign-in.
 */
export async function neededAfter(
  deps: ServerDeps,
  actor: Actor,
  serverUrl: string,
  error: NodeError,
  names: readonly string[],
): Promise<SignInRefusal | undefined> {
  const { publicUrl } = deps.config.api;
  const isSignIn = error.kind === 'connection';
  if (!isSignIn && error.status !== 401) return undefined;
  const { workspaceId, id: memberId } = actor;
  const known = await listConnections(deps.db, { workspaceId, memberId, publicUrl });
  const used = known.find(
    ({ name, grant, status }) =>
      names.includes(name) && grant === 'authorization_code' && status !== 'connected',
  );
  if (used !== undefined) {
    const { resource, issuer, scopes } = used;
    const needed = { resource: resource ?? serverUrl, issuer, scopes };
    return {
      reason: `Sign in to the connection '${used.name}' at ${pageOf(publicUrl, used)}`,
      needed: { ...needed, connection: shortOf(used), url: pageOf(publicUrl, used) },
    };
  }
  if (isSignIn) return undefined;
  try {
    const egress = withinTime(deps.egress, FIND_MS);
    const found = await findProtectedResource(egress, serverUrl, error.challenge);
    return found === undefined ? undefined : asked(publicUrl, serverUrl, error, known, found);
  } catch (problem) {
    if (problem instanceof TokenError) return { reason: `${error.message}. ${problem.message}` };
    throw problem;
  }
}

/** With the connection for this server, if there is one with the same authorization server. */
function asked(
  publicUrl: string,
  serverUrl: string,
  { message }: NodeError,
  known: readonly Connection[],
  { resource, issuers, scopes }: ProtectedResource,
): SignInRefusal {
  const [issuer = ''] = issuers;
  const url = new URL(serverUrl);
  const own = known.find(
    (each) =>
      (each.resource === url.href || each.resource === spellingOf(url)) &&
      issuers.some((listed) => URL.parse(listed)?.href === URL.parse(each.issuer ?? '')?.href),
  );
  const page = pageOf(publicUrl, own ?? url);
  const act =
    own === undefined
      ? `Create a connection for it at ${page}`
      : own.status === 'connected'
        ? `Import with the connection '${own.name}', or sign in to it again at ${page}`
        : `Sign in to the connection '${own.name}' at ${page}`;
  const needed = {
    ...{ resource, issuer: own?.issuer ?? issuer, scopes: [...scopes] },
    connection: own === undefined ? null : shortOf(own),
    url: page,
  };
  return { reason: `${message}: it requires sign-in. ${act}`, needed };
}

const shortOf = ({ id, name }: Connection): NonNullable<NeededSignIn['connection']> => ({
  id,
  name,
});

/** The page of a connection, or the one that creates a connection to a server. */
function pageOf(publicUrl: string, what: Pick<Connection, 'id'> | URL): string {
  if (!(what instanceof URL)) return publicUrl + connectionPage(what.id);
  const query = new URLSearchParams({ mcp_server: spellingOf(what) });
  return `${publicUrl}${CONNECTIONS_PAGE}?${query.toString()}`;
}
