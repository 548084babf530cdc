import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { SLACK_SCOPES } from '#shared/contract/slack/settings.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { goesToHosts } from '#shared/values/secrets.ts';

/** Binds a sealed signing secret to its workspace. */
export const signingSecretPlace = (workspaceId: string): string =>
  `${workspaceId}/alerts/slack/signing_secret`;

const storedSlack = z.object({ connection: z.string(), channel: z.string(), sealed: z.string() });

/** What a workspace has set: the name of the connection, the channel and the sealed signing secret. */
export type StoredSlack = z.infer<typeof storedSlack>;

export async function readSlack(db: Db, workspaceId: string): Promise<StoredSlack | null> {
  return db.maybeOne(statement(storedSlack)`
    SELECT c.name AS connection, s.channel, s.sealed_signing_secret AS sealed
    FROM workspace_slack s JOIN connections c ON c.id = s.connection_id AND c.workspace_id = s.workspace_id
    WHERE s.workspace_id = ${workspaceId}
  `);
}

const slackState = z.object({ team_id: z.string(), problem: z.string().nullable() });

/** What is not set by people. */
export const readSlackState = (
  db: Db,
  workspaceId: string,
): Promise<z.infer<typeof slackState> | null> =>
  db.maybeOne(statement(slackState)`
    SELECT team_id, problem FROM workspace_slack WHERE workspace_id = ${workspaceId}
  `);

const signedInRow = z.object({
  id: z.string(),
  preset: z.string().nullable(),
  owner: z.string(),
  token_url: z.string(),
  allowed_hosts: z.array(z.string()),
  signed_in: z.boolean(),
  team_id: z.string().nullable(),
  scopes: z.array(z.string()).nullable(),
});

/**
 * Replaces the Slack of a workspace, or with null turns it off. The caller has locked the workspace. Throws AppError
 * `invalid` for a connection that cannot be used, and `conflict` for a team that another workspace uses.
 */
export async function writeSlack(
  tx: Tx,
  workspaceId: string,
  { slack, apiUrl }: { slack: StoredSlack | null; apiUrl: string },
): Promise<void> {
  if (slack === null) {
    await tx.query(statement(z.object({}))`
      DELETE FROM workspace_slack WHERE workspace_id = ${workspaceId}
    `);
    return;
  }
  const found = await tx.maybeOne(statement(signedInRow)`
    SELECT c.id, c.preset, c.owner, c.token_url, c.allowed_hosts, t.sealed_access IS NOT NULL AS signed_in, t.team_id,
           t.granted_scopes AS scopes
    FROM connections c
    LEFT JOIN connection_tokens t ON t.connection_id = c.id AND t.revision = c.revision AND t.holder = ''
    WHERE c.workspace_id = ${workspaceId} AND c.name = ${slack.connection}
    FOR KEY SHARE OF c
  `);
  const teamId = usableTeam(found, slack.connection, apiUrl);
  const taken = await tx.exists(statement(z.object({}))`
    SELECT FROM workspace_slack WHERE team_id = ${teamId} AND workspace_id <> ${workspaceId}
  `);
  if (taken) throw teamTaken();
  await tx.query(statement(z.object({}))`
    INSERT INTO workspace_slack AS s (workspace_id, connection_id, team_id, channel, sealed_signing_secret)
    VALUES (${workspaceId}, ${found?.id ?? ''}, ${teamId}, ${slack.channel}, ${slack.sealed})
    ON CONFLICT (workspace_id) DO UPDATE SET
      connection_id = excluded.connection_id, team_id = excluded.team_id, channel = excluded.channel,
      sealed_signing_secret = excluded.sealed_signing_secret, problem = NULL, updated_at = now()
  `);
}

/** Does not say which workspace it is. */
const teamTaken = (): AppError =>
  new AppError(
    'conflict',
    'This Slack team already belongs to another workspace of this service: turn it off there first',
  );

/** The team of a connection that can be used. Throws AppError `invalid`. */
function usableTeam(
  found: z.infer<typeof signedInRow> | null,
  name: string,
  apiUrl: string,
): string {
  const refused = (problem: string) =>
    new AppError('invalid', `Invalid body: slack.connection: '${name}' ${problem}`);
  if (found === null) throw refused('does not exist');
  // Only Slack says which team it is, not a server that a person has set.
  const isSlack = found.preset === 'slack' && found.token_url === `${apiUrl}/oauth.v2.access`;
  if (!isSlack) throw refused("does not have the preset 'slack', with its token_url");
  if (found.owner !== 'workspace') throw refused('belongs to members, not to the workspace');
  if (!goesToHosts(new URL(apiUrl), found.allowed_hosts)) {
    throw refused(`does not allow the host ${new URL(apiUrl).host}`);
  }
  if (!found.signed_in) throw refused('is not signed in');
  const missing = SLACK_SCOPES.filter((scope) => !(found.scopes ?? []).includes(scope));
  if (missing.length > 0) {
    throw refused(`lacks the scope ${missing.join(', ')}: add it to its scopes and sign in again`);
  }
  if (found.team_id === null) {
    throw refused(
      'is not signed in to one team: sign in to a Slack workspace, not an organization',
    );
  }
  return found.team_id;
}

const endedRow = z.object({ workspace_id: z.string() });

/**
 * Turns Slack off if it uses the tokens of this connection, in the transaction that ends them. With `keeps`, only if it is
 * another team. The tokens are locked first, as by everything that uses both.
 */
export async function endSlack(
  tx: Tx,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  { connectionId, keeps = null }: { connectionId: string; keeps?: string | null | undefined },
): Promise<void> {
  const { workspaceId } = actor;
  await tx.query(statement(z.object({}))`
    SELECT FROM connection_tokens
    WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = '' FOR UPDATE
  `);
  const ended = await tx.maybeOne(statement(endedRow)`
    DELETE FROM workspace_slack
    WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND team_id IS DISTINCT FROM ${keeps}
    RETURNING workspace_id
  `);
  if (ended === null) return;
  await recordAudit(tx, actor, {
    action: 'alerts_update',
    targetType: 'workspace',
    targetId: workspaceId,
    details: { changed: ['slack'], slack: null, reason: 'the sign-in of its connection ended' },
  });
}

/** Notes why Slack refused a message, or with null that it accepted one. */
export async function noteProblem(
  db: Db,
  workspaceId: string,
  problem: string | null,
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE workspace_slack SET problem = ${problem}
    WHERE workspace_id = ${workspaceId} AND problem IS DISTINCT FROM ${problem}
  `);
}

const teamRow = z.object({ workspace_id: z.string(), connection: z.string(), sealed: z.string() });

/** The workspace of a team, with the sealed secret of its requests. */
export type SlackTeam = z.infer<typeof teamRow>;

export async function findSlackTeam(db: Db, teamId: string): Promise<SlackTeam | undefined> {
  const row = await db.maybeOne(statement(teamRow)`
    SELECT s.workspace_id, c.name AS connection, s.sealed_signing_secret AS sealed
    FROM workspace_slack s JOIN connections c ON c.id = s.connection_id WHERE s.team_id = ${teamId}
  `);
  return row ?? undefined;
}

/** How long a request is kept: longer than Slack's timestamp counts. */
const KEPT_MINUTES = 15;

/** Whether a signed request is the first with its signature. Removes old ones. */
export async function isFirstRequest(
  db: Db,
  { signature, workspaceId }: { signature: Buffer; workspaceId: string },
): Promise<boolean> {
  await db.query(statement(z.object({}))`
    DELETE FROM slack_requests WHERE signature IN (
      SELECT signature FROM slack_requests WHERE received_at < now() - ${KEPT_MINUTES}::int * interval '1 minute'
      LIMIT 100 FOR UPDATE SKIP LOCKED)
  `);
  const { rowCount } = await db.query(statement(z.object({}))`
    INSERT INTO slack_requests (signature, workspace_id) VALUES (${sql.binary(signature)}, ${workspaceId})
    ON CONFLICT DO NOTHING
  `);
  return rowCount === 1;
}
