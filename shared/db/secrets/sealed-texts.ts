import { z } from 'zod';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { webhookPlace } from '#shared/db/alerts/alerts.ts';
import { secretContext } from '#shared/db/webhooks/endpoints.ts';
import { inviteCodePlace } from '#shared/db/people/invite-codes.ts';
import { answerPlace } from '#shared/db/idempotency.ts';
import { headerContext } from '#shared/db/tools/custom-tools.ts';
import { clientSecretPlace } from '#shared/db/connections/connections.ts';
import { verifierPlace } from '#shared/db/connections/sign-ins.ts';
import { tokenPlace } from '#shared/db/connections/tokens.ts';
import { signingSecretPlace } from '#shared/db/slack/settings.ts';
import { secretPlace } from './secrets.ts';

/**
 * Every sealed text in the database, by table, so that all can be sealed with another key. A row's texts are read and
 * replaced while the row is locked, so that no change is lost.
 */

/** The new seal of a text; undefined to leave it unchanged. */
type Reseal = (sealed: string, place: string) => string | undefined;

export interface SealedTable {
  name: string;
  /** Processes the next rows after this key, in key order. Undefined after the last one. */
  resealNext: (db: Pool, after: string, reseal: Reseal) => Promise<string | undefined>;
}

/** Rows per transaction. Each row stays locked until the end. */
const BATCH = 100;
/** The same for answers. Each can have more than a megabyte. */
const ANSWERS = 10;

const keyRow = z.object({ key: z.string() });

/** A table that is processed in batches, each row by `resealRow`. */
function sealedTable<Row extends { key: string }>(
  name: string,
  lockNext: (tx: Tx, after: string) => Promise<readonly Row[]>,
  resealRow: (tx: Tx, row: Row, reseal: Reseal) => Promise<void>,
  batch = BATCH,
): SealedTable {
  return {
    name,
    resealNext: (db, after, reseal) =>
      db.transaction(async (tx) => {
        const rows = await lockNext(tx, after);
        for (const row of rows) await resealRow(tx, row, reseal);
        return rows.length < batch ? undefined : rows.at(-1)?.key;
      }),
  };
}

/** A table with one sealed text in each row, bound to `placeOf`. */
const sealedText = <Row extends { key: string; sealed: string }>(
  name: string,
  lockNext: (tx: Tx, after: string) => Promise<readonly Row[]>,
  placeOf: (row: Row) => string,
  store: (tx: Tx, row: Row, sealed: string) => Promise<unknown>,
  batch?: number,
): SealedTable =>
  sealedTable(
    name,
    lockNext,
    async (tx, row, reseal) => {
      const again = reseal(row.sealed, placeOf(row));
      if (again !== undefined) await store(tx, row, again);
    },
    batch,
  );

const ownRow = keyRow.extend({ workspace_id: z.string(), sealed: z.string() });

const secretRow = keyRow.extend({ workspace_id: z.string(), name: z.string(), sealed: z.string() });
const secrets = sealedText(
  'secrets',
  (tx, after) =>
    tx.any(statement(secretRow)`
      SELECT workspace_id || '/' || name AS key, workspace_id, name, sealed_value AS sealed FROM secrets
      WHERE workspace_id || '/' || name > ${after} ORDER BY key LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ workspace_id: workspaceId, name }) => secretPlace({ workspaceId, name }),
  (tx, { workspace_id: workspaceId, name }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE secrets SET sealed_value = ${sealed} WHERE workspace_id = ${workspaceId} AND name = ${name}
    `),
);

const headersRow = keyRow.extend({
  workspace_id: z.string(),
  headers: z.record(z.string(), z.string()),
});
const toolHeaders = sealedTable(
  'headers of custom tools',
  (tx, after) =>
    tx.any(statement(headersRow)`
      SELECT id AS key, workspace_id, headers FROM custom_tools
      WHERE id > ${after} ORDER BY id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  async (tx, { key: toolId, workspace_id: workspaceId, headers }, reseal) => {
    const again = Object.entries(headers).map(([header, sealed]) => {
      const place = headerContext({ workspaceId, toolId }, header);
      return [header, reseal(sealed, place) ?? sealed] as const;
    });
    if (again.every(([header, sealed]) => sealed === headers[header])) return;
    await tx.query(statement(z.object({}))`
      UPDATE custom_tools SET headers = ${JSON.stringify(Object.fromEntries(again))}::json WHERE id = ${toolId}
    `);
  },
);

const endpointRow = keyRow.extend({
  workspace_id: z.string(),
  secret: z.string(),
  previous_secret: z.string().nullable(),
});
const endpoints = sealedTable(
  'secrets of webhook endpoints',
  (tx, after) =>
    tx.any(statement(endpointRow)`
      SELECT id AS key, workspace_id, secret, previous_secret FROM data_endpoints
      WHERE id > ${after} ORDER BY id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  async (tx, { key: id, workspace_id, secret, previous_secret: previous }, reseal) => {
    const place = secretContext(workspace_id, id);
    const again = reseal(secret, place);
    const previousAgain = previous === null ? undefined : reseal(previous, place);
    if (again === undefined && previousAgain === undefined) return;
    await tx.query(statement(z.object({}))`
      UPDATE data_endpoints SET secret = ${again ?? secret}, previous_secret = ${previousAgain ?? previous}
      WHERE id = ${id}
    `);
  },
);

const codeRow = keyRow.extend({ sealed: z.string() });
const inviteCodes = sealedText(
  'invite codes',
  (tx, after) =>
    tx.any(statement(codeRow)`
      SELECT id AS key, invite_code_sealed AS sealed FROM members
      WHERE id > ${after} AND invite_code_sealed IS NOT NULL ORDER BY id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ key: id }) => inviteCodePlace(id),
  (tx, { key: id }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE members SET invite_code_sealed = ${sealed} WHERE id = ${id}
    `),
);

const idOf = (key: string): Buffer => Buffer.from(key, 'hex');
const answers = sealedText(
  'answers to idempotency keys',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT encode(id, 'hex') AS key, workspace_id, answer AS sealed FROM idempotent_answers
      WHERE id > decode(${after}, 'hex') AND sealed ORDER BY id LIMIT ${ANSWERS}::int FOR NO KEY UPDATE
    `),
  ({ key, workspace_id: workspaceId }) => answerPlace({ workspaceId, id: idOf(key) }),
  (tx, { key, workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE idempotent_answers SET answer = ${sealed}
      WHERE workspace_id = ${workspaceId} AND id = ${sql.binary(idOf(key))}
    `),
  ANSWERS,
);

const clientSecrets = sealedText(
  'client secrets of connections',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT id AS key, workspace_id, sealed_client_secret AS sealed FROM connections
      WHERE id > ${after} AND sealed_client_secret IS NOT NULL ORDER BY id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ key: connectionId, workspace_id: workspaceId }) =>
    clientSecretPlace({ workspaceId, connectionId }),
  (tx, { key: connectionId, workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE connections SET sealed_client_secret = ${sealed}
      WHERE id = ${connectionId} AND workspace_id = ${workspaceId}
    `),
);

const tokenRow = keyRow.extend({
  workspace_id: z.string(),
  connection_id: z.string(),
  member_id: z.string().nullable(),
  access: z.string().nullable(),
  refresh: z.string().nullable(),
});
const tokens = sealedTable(
  'tokens of connections',
  (tx, after) =>
    tx.any(statement(tokenRow)`
      SELECT connection_id || '/' || holder AS key, workspace_id, connection_id, member_id,
             sealed_access AS access, sealed_refresh AS refresh
      FROM connection_tokens WHERE connection_id || '/' || holder > ${after}
      ORDER BY key LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  async (tx, row, reseal) => {
    const { workspace_id: workspaceId, connection_id: connectionId, member_id: memberId } = row;
    const holder = { workspaceId, connectionId, memberId };
    const { access, refresh } = row;
    const access2 = access === null ? undefined : reseal(access, tokenPlace(holder, 'access'));
    const refresh2 = refresh === null ? undefined : reseal(refresh, tokenPlace(holder, 'refresh'));
    if (access2 === undefined && refresh2 === undefined) return;
    await tx.query(statement(z.object({}))`
      UPDATE connection_tokens SET sealed_access = ${access2 ?? access}, sealed_refresh = ${refresh2 ?? refresh}
      WHERE connection_id = ${connectionId} AND workspace_id = ${workspaceId} AND holder = ${memberId ?? ''}
    `);
  },
);

const signIns = sealedText(
  'sign-ins to connections',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT id AS key, workspace_id, sealed_verifier AS sealed FROM connection_sign_ins
      WHERE id > ${after} ORDER BY id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ key: id, workspace_id: workspaceId }) => verifierPlace(workspaceId, id),
  (tx, { key: id, workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE connection_sign_ins SET sealed_verifier = ${sealed} WHERE id = ${id} AND workspace_id = ${workspaceId}
    `),
);

const alertWebhooks = sealedText(
  'webhooks of alerts',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT workspace_id AS key, workspace_id, chat_webhook_sealed AS sealed FROM workspace_alerts
      WHERE workspace_id > ${after} AND chat_webhook_sealed IS NOT NULL
      ORDER BY workspace_id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ workspace_id: workspaceId }) => webhookPlace(workspaceId),
  (tx, { workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE workspace_alerts SET chat_webhook_sealed = ${sealed} WHERE workspace_id = ${workspaceId}
    `),
);

const workflowAlertWebhooks = sealedText(
  'webhooks of alerts of workflows',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT workflow_id AS key, workspace_id, chat_webhook_sealed AS sealed FROM workflow_alerts
      WHERE workflow_id > ${after} AND chat_webhook_sealed IS NOT NULL
      ORDER BY workflow_id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ key: workflowId, workspace_id: workspaceId }) => webhookPlace(workspaceId, workflowId),
  (tx, { key: workflowId, workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE workflow_alerts SET chat_webhook_sealed = ${sealed}
      WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId}
    `),
);

const slackSigningSecrets = sealedText(
  'signing secrets of Slack',
  (tx, after) =>
    tx.any(statement(ownRow)`
      SELECT workspace_id AS key, workspace_id, sealed_signing_secret AS sealed FROM workspace_slack
      WHERE workspace_id > ${after} ORDER BY workspace_id LIMIT ${BATCH}::int FOR NO KEY UPDATE
    `),
  ({ workspace_id: workspaceId }) => signingSecretPlace(workspaceId),
  (tx, { workspace_id: workspaceId }, sealed) =>
    tx.query(statement(z.object({}))`
      UPDATE workspace_slack SET sealed_signing_secret = ${sealed} WHERE workspace_id = ${workspaceId}
    `),
);

export const sealedTables: readonly SealedTable[] = [
  secrets,
  toolHeaders,
  endpoints,
  inviteCodes,
  answers,
  clientSecrets,
  tokens,
  signIns,
  alertWebhooks,
  workflowAlertWebhooks,
  slackSigningSecrets,
];
