import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type {
  CodeExchange,
  TokenRefresh,
  TokenRevocation,
  Tokens,
} from '#shared/contract/authorizations/oauth.ts';
import {
  challengeOf,
  hashAuthorizationSecret,
  newAuthorizationSecret,
  successorsOf,
} from '#shared/crypto/authorization-tokens.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { scopeNames } from '#shared/people/scopes.ts';
import { auditAuthorization, deleteAuthorization } from './authorizations.ts';

const ACCESS_SECONDS = 3_600;
const REFRESH_SECONDS = 30 * 86_400;
/**
 * How long a client can repeat a refresh whose response it lost, or that another process of it sent at the same time. It gets the
 * same tokens. After that, or once the new refresh token was used, a second use means that two parties have the token.
 */
const REPEAT_SECONDS = 10;

/** Why a code or token was not accepted, as RFC 6749 and 8707 call it. */
interface Refused {
  error: 'invalid_grant' | 'invalid_target' | 'invalid_scope';
  detail: string;
}
export type Exchanged = { tokens: Tokens } | { refused: Refused };

const refused = (error: Refused['error'], detail: string): Exchanged => ({
  refused: { error, detail },
});
const invalidGrant = (what: string): Exchanged =>
  refused('invalid_grant', `The ${what} is invalid, expired or revoked`);
const otherResource = (): Exchanged =>
  refused('invalid_target', 'The resource is not the one that was authorized');

const nothing = z.object({});

const grantRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  member_id: z.string(),
  member_name: z.string(),
  client_id: z.string(),
  resource: z.string(),
  scopes: z.array(z.string()),
});
type Grant = z.infer<typeof grantRow>;

/**
 * Locks the authorization behind a code or token. Everything that uses or ends one locks this row first, so of two
 * concurrent requests the second sees what the first did.
 */
async function lockGrant(
  tx: Tx,
  table: 'authorization_codes' | 'authorization_tokens',
  hash: Buffer,
): Promise<Grant | undefined> {
  const [from, column] = [
    sql.identifier([table]),
    sql.identifier([table === 'authorization_codes' ? 'code_hash' : 'token_hash']),
  ];
  const row = await tx.maybeOne(statement(grantRow)`
    SELECT a.id, a.workspace_id, a.member_id, m.name AS member_name, a.client_id, a.resource, a.scopes
    FROM authorizations a JOIN members m ON m.id = a.member_id AND m.workspace_id = a.workspace_id AND m.status = 'active'
    WHERE a.id = (SELECT authorization_id FROM ${from} WHERE ${column} = ${sql.binary(hash)})
    FOR NO KEY UPDATE OF a
  `);
  return row ?? undefined;
}

const codeRow = z.object({
  redirect_uri: z.string(),
  code_challenge: z.string(),
  used: z.boolean(),
  expired: z.boolean(),
});

/**
 * Exchanges a code for tokens, once. A second use ends the authorization with the tokens of the first one, since two
 * parties have the code.
 */
export async function exchangeCode(db: Pool, given: CodeExchange): Promise<Exchanged> {
  const hash = hashAuthorizationSecret(given.code);
  return db.transaction(async (tx) => {
    const grant = await lockGrant(tx, 'authorization_codes', hash);
    if (grant === undefined) return invalidGrant('code');
    const code = await tx.maybeOne(statement(codeRow)`
      SELECT redirect_uri, code_challenge, used_at IS NOT NULL AS used, expires_at <= now() AS expired
      FROM authorization_codes WHERE code_hash = ${sql.binary(hash)}
    `);
    if (code === null) return invalidGrant('code');
    if (code.used) return endReused(tx, grant, 'code');
    if (code.expired || grant.client_id !== given.client_id) return invalidGrant('code');
    if (code.redirect_uri !== given.redirect_uri) {
      return refused(
        'invalid_grant',
        'The redirect_uri is not the one of the authorization request',
      );
    }
    if (code.code_challenge !== challengeOf(given.code_verifier)) {
      return refused('invalid_grant', 'The code_verifier does not fit the code_challenge');
    }
    if (given.resource !== undefined && given.resource !== grant.resource) return otherResource();
    await tx.query(statement(nothing)`
      UPDATE authorization_codes SET used_at = now() WHERE code_hash = ${sql.binary(hash)}
    `);
    const pair = {
      access: newAuthorizationSecret('access'),
      refresh: newAuthorizationSecret('refresh'),
    };
    await addTokens(tx, grant, pair);
    return { tokens: tokensOf(grant, pair, ACCESS_SECONDS) };
  });
}

const refreshRow = z.object({
  used: z.boolean(),
  recent: z.boolean(),
  expired: z.boolean(),
  salt: z.instanceof(Buffer).nullable(),
});

/**
 * Exchanges a refresh token for the next pair. The same request within ten seconds gets the same pair, as long as the
 * new refresh token is unused; any other second use ends the authorization.
 */
export async function refreshTokens(db: Pool, given: TokenRefresh): Promise<Exchanged> {
  const hash = hashAuthorizationSecret(given.refresh_token);
  return db.transaction(async (tx) => {
    const grant = await lockGrant(tx, 'authorization_tokens', hash);
    if (grant === undefined) return invalidGrant('refresh token');
    const token = await tx.maybeOne(statement(refreshRow)`
      SELECT used_at IS NOT NULL AS used, coalesce(used_at > now() - ${REPEAT_SECONDS}::int * interval '1 second', false) AS recent,
             expires_at <= now() AS expired, salt
      FROM authorization_tokens WHERE token_hash = ${sql.binary(hash)} AND kind = 'refresh'
    `);
    if (token === null || token.expired || grant.client_id !== given.client_id) {
      return invalidGrant('refresh token');
    }
    if (given.resource !== undefined && given.resource !== grant.resource) return otherResource();
    if (given.scope !== undefined && !isWithin(given.scope, grant.scopes)) {
      return refused('invalid_scope', 'The scope is more than the member authorized');
    }
    if (token.used) {
      const repeated = token.recent
        ? await repeatedPair(tx, given.refresh_token, token.salt)
        : null;
      if (repeated === null) return endReused(tx, grant, 'refresh token');
      return { tokens: tokensOf(grant, repeated, repeated.seconds) };
    }
    const salt = randomBytes(32);
    const pair = successorsOf(given.refresh_token, salt);
    await tx.query(statement(nothing)`
      UPDATE authorization_tokens SET used_at = now(), salt = ${sql.binary(salt)} WHERE token_hash = ${sql.binary(hash)}
    `);
    await addTokens(tx, grant, pair);
    return { tokens: tokensOf(grant, pair, ACCESS_SECONDS) };
  });
}

/** Scopes that the service does not know are ignored, as in an authorization request. */
const isWithin = (asked: string, granted: readonly string[]): boolean =>
  scopeNames.every((scope) => granted.includes(scope) || !asked.split(' ').includes(scope));

interface Pair {
  access: string;
  refresh: string;
}

const pairRow = z.object({ seconds: z.number() });

/** The pair that an earlier request got for the token, with the seconds left; null if its refresh token was used. */
async function repeatedPair(
  tx: Tx,
  refreshToken: string,
  salt: Buffer | null,
): Promise<(Pair & { seconds: number }) | null> {
  if (salt === null) return null;
  const pair = successorsOf(refreshToken, salt);
  const row = await tx.maybeOne(statement(pairRow)`
    SELECT floor(extract(epoch FROM a.expires_at - now()))::int AS seconds
    FROM authorization_tokens r JOIN authorization_tokens a ON a.token_hash = ${sql.binary(hashAuthorizationSecret(pair.access))}
    WHERE r.token_hash = ${sql.binary(hashAuthorizationSecret(pair.refresh))} AND r.used_at IS NULL
  `);
  return row === null ? null : { ...pair, ...row };
}

async function addTokens(tx: Tx, { id }: Grant, { access, refresh }: Pair): Promise<void> {
  await tx.query(statement(nothing)`
    INSERT INTO authorization_tokens (token_hash, authorization_id, kind, expires_at) VALUES
      (${sql.binary(hashAuthorizationSecret(access))}, ${id}, 'access', now() + ${ACCESS_SECONDS}::int * interval '1 second'),
      (${sql.binary(hashAuthorizationSecret(refresh))}, ${id}, 'refresh', now() + ${REFRESH_SECONDS}::int * interval '1 second')
  `);
}

const tokensOf = ({ scopes }: Grant, { access, refresh }: Pair, seconds: number): Tokens => ({
  access_token: access,
  token_type: 'Bearer',
  expires_in: seconds,
  refresh_token: refresh,
  scope: scopes.join(' '),
});

/** Ends an authorization whose code or refresh token was used twice. */
async function endReused(tx: Tx, grant: Grant, what: 'code' | 'refresh token'): Promise<Exchanged> {
  const { workspace_id: workspaceId, id } = grant;
  const ended = await deleteAuthorization(tx, { workspaceId, id });
  if (ended !== undefined) {
    const actor = { workspaceId, id: grant.member_id, name: grant.member_name };
    await auditAuthorization(tx, actor, 'authorization_reuse', ended);
  }
  const detail = `The ${what} was used twice, so the authorization has ended: sign in again`;
  return refused('invalid_grant', detail);
}

/** Ends the authorization of a token at its client's request. Has no effect for an unknown token. */
export async function revokeToken(db: Pool, given: TokenRevocation): Promise<void> {
  const hash = hashAuthorizationSecret(given.token);
  await db.transaction(async (tx) => {
    const grant = await lockGrant(tx, 'authorization_tokens', hash);
    if (grant === undefined || grant.client_id !== given.client_id) return;
    const { workspace_id: workspaceId, id } = grant;
    const ended = await deleteAuthorization(tx, { workspaceId, id });
    if (ended === undefined) return;
    const actor = { workspaceId, id: grant.member_id, name: grant.member_name };
    await auditAuthorization(tx, actor, 'authorization_revoke', ended);
  });
}
