import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import { clientSecretPlace } from '#shared/db/connections/connections.ts';
import type { RunAccount } from '#shared/db/connections/starters.ts';
import {
  type HeldTokens,
  lockTokens,
  markConnectionsUsed,
  readConnectionOwners,
  readHeldTokens,
  requireSignIn,
  storeRefreshed,
  type TokenHolder,
  tokenPlace,
} from '#shared/db/connections/tokens.ts';
import type { Pool, Tx } from '#shared/db/pool.ts';
import { queueConnectionAlert } from '#shared/db/runs/outbox.ts';
import type { MissingAccount } from '#shared/db/waits/sign-ins.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  clientTokens,
  refreshTokens,
  type TokenClient,
  TokenError,
  type Tokens,
} from '#shared/platform/calls/oauth.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import {
  type HeldToken,
  noConnection,
  type StepSecrets,
} from '#shared/platform/secrets/open-secrets.ts';
import { CONNECTIONS_PAGE } from '#shared/values/connection-callback.ts';

/** Connections that a call needs, and whose accounts it may use if members own them. */
interface WantedTokens {
  workspaceId: string;
  names: readonly string[];
  account: () => Promise<RunAccount>;
}

/** The access tokens of connections. One per process, so that it requests each token once at a time. */
export interface ConnectionTokens {
  /**
   * Makes a call with the tokens of these connections. They are refreshed before they end, and once if the call fails
   * with the status 401: `call` is then repeated. Throws NodeError, with the kind `connection` if someone has to sign in.
   */
  use: <T>(
    wanted: WantedTokens,
    secrets: StepSecrets,
    call: (secrets: StepSecrets) => Promise<T>,
  ) => Promise<T>;
}

interface TokenDeps {
  db: Pool;
  sealer: Sealer | undefined;
  egress: Egress;
  publicUrl: string;
}

/** A token with its generation. */
type CurrentToken = HeldToken & { generation: number };

/** Each refresh keeps a connection to the database, with its lock, until the service has answered. */
const MAX_REFRESHES = 3;
/** A token can be void again at once, for example when a member signs in meanwhile. */
const MAX_TRIES = 3;

export function createConnectionTokens(deps: TokenDeps): ConnectionTokens {
  const refreshOnce = createRefreshes(deps);
  const tokensOf = async (
    { workspaceId, names, account }: WantedTokens,
    before: ReadonlyMap<string, CurrentToken> = new Map(),
  ): Promise<Map<string, CurrentToken>> => {
    const owners = await readConnectionOwners(deps.db, { workspaceId, names });
    const memberId = await memberFor(owners, account);
    const found = new Map<string, CurrentToken>();
    for (const name of names) {
      const after = before.get(name)?.generation ?? -1;
      found.set(name, await tokenOf(deps, refreshOnce, { workspaceId, name, memberId, after }));
    }
    return found;
  };
  return {
    use: async (wanted, secrets, call) => {
      if (wanted.names.length === 0) return call(secrets);
      await markConnectionsUsed(deps.db, wanted);
      const tokens = await tokensOf(wanted);
      try {
        return await call({ ...secrets, tokens });
      } catch (error) {
        if (!(error instanceof NodeError) || error.status !== 401) throw error;
        const renewed = await tokensOf(wanted, tokens).catch((problem: unknown) => {
          // A token that cannot be refreshed was simply not accepted.
          throw problem instanceof SignInError && !problem.isRefused ? error : problem;
        });
        return call({ ...secrets, tokens: renewed });
      }
    },
  };
}

/** Requests another token, after the generation that a service has refused. */
type Refresh = (held: HeldTokens, holder: TokenHolder, after: number) => Promise<void>;

/** Waits for the refresh of the same tokens that is in progress, or begins one. */
function createRefreshes(deps: TokenDeps): Refresh {
  const refreshes = new Map<string, Promise<void>>();
  const slots = createSlots(MAX_REFRESHES);
  return (held, holder, after) => {
    const key = `${held.id}/${holder.memberId ?? ''}`;
    const running = refreshes.get(key);
    if (running !== undefined) return running;
    const begun = slots(() => refresh(deps, held, holder, after)).finally(() =>
      refreshes.delete(key),
    );
    refreshes.set(key, begun);
    return begun;
  };
}

/** The token of a connection, refreshed if it is due. Throws NodeError. */
async function tokenOf(
  deps: TokenDeps,
  refreshOnce: Refresh,
  {
    workspaceId,
    name,
    memberId,
    after,
  }: { workspaceId: string; name: string; memberId: string | null; after: number },
): Promise<CurrentToken> {
  for (let tries = 1; ; tries += 1) {
    const held = await readHeldTokens(deps.db, { workspaceId, name, memberId });
    if (held === undefined) throw noConnection(name);
    const holder = holderOf(workspaceId, held, memberId);
    if (isFresh(held, after)) return opened(deps, held, holder);
    requireRefreshable(deps, held, holder);
    if (tries === MAX_TRIES) {
      throw new NodeError(`The token of the connection '${name}' ends before it can be used`);
    }
    try {
      await refreshOnce(held, holder, after);
    } catch (error) {
      // The present one is still valid for a moment.
      const lasts = held.has_expired !== true && (held.generation ?? 0) > after;
      const isTemporary = error instanceof NodeError && error.retryable;
      if (!isTemporary || !lasts || held.sealed_access === null) throw error;
      return opened(deps, held, holder);
    }
  }
}

/** The member whose accounts are used; null if only the workspace's are. Throws NodeError if there is none. */
async function memberFor(
  owners: ReadonlyMap<string, HeldTokens['owner']>,
  account: WantedTokens['account'],
): Promise<string | null> {
  const [own] = [...owners].filter(([, owner]) => owner === 'member');
  if (own === undefined) return null;
  const found = await account();
  if ('memberId' in found) return found.memberId;
  const whose = found.of === 'approver' ? 'approved the step' : 'started the run';
  const message = `The connection '${own[0]}' uses the account of the member who ${whose}, but ${found.missing}`;
  throw new NodeError(message, { retryable: false, kind: 'connection' });
}

const holderOf = (
  workspaceId: string,
  { id, owner }: HeldTokens,
  memberId: string | null,
): TokenHolder => ({
  workspaceId,
  connectionId: id,
  memberId: owner === 'member' ? memberId : null,
});

/** Whether the token can be sent now. `after`: a service has refused tokens up to this generation. */
const isFresh = (held: HeldTokens, after: number): boolean =>
  held.sealed_access !== null &&
  (held.generation ?? 0) > after &&
  held.has_expired !== true &&
  (held.is_due !== true || !canRefresh(held));

const canRefresh = ({ grant, sealed_refresh }: HeldTokens): boolean =>
  grant === 'client_credentials' || sealed_refresh !== null;

/** Nothing but a sign-in gives another token. */
export class SignInError extends NodeError {
  /** The account, if it is that of a member; undefined for that of the workspace. */
  readonly account: MissingAccount | undefined;
  /** Whether the service no longer accepts the sign-in, as far as is known. */
  readonly isRefused: boolean;

  constructor(message: string, account: MissingAccount | undefined, isRefused: boolean) {
    super(message, { retryable: false, kind: 'connection' });
    this.account = account;
    this.isRefused = isRefused;
  }
}

function requireRefreshable(
  { publicUrl }: TokenDeps,
  held: HeldTokens,
  { memberId }: TokenHolder,
): void {
  if (canRefresh(held)) return;
  const { id: connectionId, name: connectionName } = held;
  const again = held.generation === null ? '' : ' again';
  const message = `Sign in to the connection '${connectionName}'${again} at ${publicUrl}${CONNECTIONS_PAGE}, and resume the run`;
  const isRefused = held.needs_sign_in === true;
  const reason = held.generation === null ? 'not_signed_in' : 'needs_sign_in';
  const account: MissingAccount | undefined =
    memberId === null ? undefined : { connectionId, connectionName, memberId, reason };
  throw new SignInError(message, account, isRefused);
}

/**
 * Requests another token while the row of the tokens is locked, unless another process has already stored one. Throws
 * NodeError.
 */
async function refresh(
  deps: TokenDeps,
  { name, revision }: HeldTokens,
  holder: TokenHolder,
  after: number,
): Promise<void> {
  const { workspaceId, memberId } = holder;
  const lockedWork = async (tx: Tx): Promise<NodeError | undefined> => {
    await lockTokens(tx, holder, revision);
    const held = await readHeldTokens(tx, { workspaceId, name, memberId });
    const isCurrent = held?.id === holder.connectionId && held.revision === revision;
    if (!isCurrent || isFresh(held, after) || !canRefresh(held)) return undefined;
    try {
      const issued = await requestTokens(deps, held, holder);
      const sealer = requireSealer(deps, name);
      const access = sealer.seal(issued.access, tokenPlace(holder, 'access'));
      const next =
        issued.refresh === undefined
          ? undefined
          : sealer.seal(issued.refresh, tokenPlace(holder, 'refresh'));
      const { expiresIn } = issued;
      await storeRefreshed(tx, holder, revision, { access, refresh: next, expiresIn });
      return undefined;
    } catch (error) {
      if (error instanceof NodeError) return error;
      if (!(error instanceof TokenError)) throw error;
      if (error.reason === 'grant' && held.grant === 'authorization_code') {
        await requireSignIn(tx, holder);
        await queueConnectionAlert(tx, {
          workspace_id: workspaceId,
          connection_id: holder.connectionId,
          connection_name: name,
          member_id: memberId,
        });
        return undefined;
      }
      const message = `There is no token for the connection '${name}': ${error.message}`;
      return new NodeError(message, {
        retryable: error.reason === 'temporary',
        kind: 'connection',
      });
    }
  };
  // Without retries: a service may accept a refresh token only once.
  const problem = await deps.db.transaction(lockedWork, 0);
  if (problem !== undefined) throw problem;
}

/**
 * Ends the sign-in of the workspace to a connection, with an alert, because the service no longer accepts this token and it cannot
 * be refreshed. Does nothing if there is another token by now.
 */
export async function endRefusedSignIn(
  deps: Pick<TokenDeps, 'db' | 'sealer'>,
  { workspaceId, name }: { workspaceId: string; name: string },
  token: string,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const before = await readHeldTokens(tx, { workspaceId, name, memberId: null });
    if (before === undefined) return;
    const holder = holderOf(workspaceId, before, null);
    await lockTokens(tx, holder, before.revision);
    const held = await readHeldTokens(tx, { workspaceId, name, memberId: null });
    if (held?.id !== holder.connectionId || held.sealed_access === null) return;
    if (openSealed(deps, name, held.sealed_access, tokenPlace(holder, 'access')) !== token) return;
    await requireSignIn(tx, holder);
    await queueConnectionAlert(tx, {
      workspace_id: workspaceId,
      connection_id: holder.connectionId,
      connection_name: name,
      member_id: null,
    });
  });
}

function requestTokens(deps: TokenDeps, held: HeldTokens, holder: TokenHolder): Promise<Tokens> {
  const client = clientOf(deps, holder, held);
  if (held.sealed_refresh === null) return clientTokens(deps.egress, client);
  const sealed = held.sealed_refresh;
  const token = openSealed(deps, held.name, sealed, tokenPlace(holder, 'refresh'));
  return refreshTokens(deps.egress, client, token);
}

/** What the token endpoint needs. Throws NodeError when the client secret cannot be opened. */
export function clientOf(
  deps: Pick<TokenDeps, 'sealer'>,
  { workspaceId, connectionId }: Pick<TokenHolder, 'workspaceId' | 'connectionId'>,
  settings: Pick<
    HeldTokens,
    | 'name'
    | 'issuer'
    | 'token_url'
    | 'client_id'
    | 'client_auth'
    | 'resource'
    | 'scopes'
    | 'sealed_client_secret'
  >,
): TokenClient {
  const { sealed_client_secret: sealed } = settings;
  const place = clientSecretPlace({ workspaceId, connectionId });
  return {
    issuer: settings.issuer,
    tokenUrl: settings.token_url,
    clientId: settings.client_id,
    clientSecret: sealed === null ? undefined : openSealed(deps, settings.name, sealed, place),
    clientAuth: settings.client_auth,
    resource: settings.resource,
    scopes: settings.scopes,
  };
}

function opened(deps: TokenDeps, held: HeldTokens, holder: TokenHolder): CurrentToken {
  const sealed = held.sealed_access ?? '';
  const value = openSealed(deps, held.name, sealed, tokenPlace(holder, 'access'));
  return { value, hosts: held.allowed_hosts, generation: held.generation ?? 0 };
}

function openSealed(
  deps: Pick<TokenDeps, 'sealer'>,
  name: string,
  sealed: string,
  place: string,
): string {
  try {
    return requireSealer(deps, name).open(sealed, place);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new NodeError(
      `The connection '${name}' cannot be opened with the current ENCRYPTION_KEY; save its client secret and sign in again`,
      { retryable: false, kind: 'connection' },
    );
  }
}

function requireSealer({ sealer }: Pick<TokenDeps, 'sealer'>, name: string): Sealer {
  if (sealer !== undefined) return sealer;
  throw new NodeError(`There is no ENCRYPTION_KEY for the connection '${name}': set it`, {
    retryable: false,
    kind: 'connection',
  });
}

/** Runs at most `most` pieces of work at a time, in order. */
function createSlots(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
