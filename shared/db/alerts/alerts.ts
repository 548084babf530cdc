import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { alertEvents } from '#shared/contract/alerts/alerts.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { readSlack, type StoredSlack, writeSlack } from '#shared/db/slack/settings.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';

/** Binds a sealed URL to its owner: the workspace, or one of its workflows. */
export const webhookPlace = (workspaceId: string, workflowId?: string): string =>
  `${workspaceId}/alerts/${workflowId ?? ''}`;

/** A stored webhook: its URL, sealed, and the origin that people see. */
export interface StoredWebhook {
  sealed: string;
  origin: string;
}

const events = z.array(z.enum(alertEvents));

const storedWorkflow = z.object({
  workflow_id: z.string(),
  sealed: z.string().nullable(),
  origin: z.string().nullable(),
  email: z.array(z.string()).nullable(),
  events: events.nullable(),
  slack_channel: z.string().nullable(),
});
export type StoredWorkflowAlerts = z.infer<typeof storedWorkflow>;

const storedAlerts = z.object({
  sealed: z.string().nullable(),
  origin: z.string().nullable(),
  email: z.array(z.string()),
  events,
  decide_by_link: z.boolean(),
});

/** The settings of a workspace, and those of its workflows by their ids. */
export interface StoredAlerts extends z.infer<typeof storedAlerts> {
  slack: StoredSlack | null;
  workflows: readonly StoredWorkflowAlerts[];
}

const noAlerts: StoredAlerts = {
  sealed: null,
  origin: null,
  email: [],
  events: [...alertEvents],
  decide_by_link: false,
  slack: null,
  workflows: [],
};

/** The workspace's own settings. Without any, it has no addresses, and would send all events. */
export async function readAlerts(db: Db, workspaceId: string): Promise<StoredAlerts> {
  const row = await db.maybeOne(statement(storedAlerts)`
    SELECT chat_webhook_sealed AS sealed, chat_webhook_origin AS origin, email, events, decide_by_link
    FROM workspace_alerts WHERE workspace_id = ${workspaceId}
  `);
  if (row === null) return noAlerts;
  const workflows = await db.any(statement(storedWorkflow)`
    SELECT workflow_id, chat_webhook_sealed AS sealed, chat_webhook_origin AS origin, email, events, slack_channel
    FROM workflow_alerts WHERE workspace_id = ${workspaceId} ORDER BY workflow_id
  `);
  return { ...row, slack: await readSlack(db, workspaceId), workflows };
}

/** The oldest workspace. The settings of the service are its default. */
const firstWorkspace = sql.fragment`(SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1)`;

/** Whether alerts of run `r` can have an address. `byService`: whether the service has one for its first workspace. */
export const hasAlerts = (byService: boolean) => sql.fragment`(
  ${byService}::boolean AND r.workspace_id = ${firstWorkspace}
  OR EXISTS (SELECT FROM workspace_alerts a WHERE a.workspace_id = r.workspace_id))`;

const targetRow = z.object({
  is_first: z.boolean(),
  events,
  email: z.array(z.string()),
  /** The workflow sends no email. */
  mutes_email: z.boolean(),
  chat: z.object({ sealed: z.string(), of_workflow: z.boolean() }).nullable(),
  slack: z.object({ connection: z.string(), channel: z.string(), team_id: z.string() }).nullable(),
});

/** What counts for an alert, where a workflow differs from its workspace. */
export type AlertRow = z.infer<typeof targetRow>;

/** Undefined when the workspace is gone. Without a workflow, it is that of the workspace. */
export async function readAlertRow(
  db: Db,
  { workspaceId, workflowId = null }: { workspaceId: string; workflowId?: string | null },
): Promise<AlertRow | undefined> {
  const row = await db.maybeOne(statement(targetRow)`
    SELECT w.id = ${firstWorkspace} AS is_first,
           coalesce(o.events, a.events, ${sql.array([...alertEvents], 'text')}) AS events,
           coalesce(o.email, a.email, '{}') AS email, coalesce(o.email = '{}', false) AS mutes_email,
           CASE WHEN coalesce(o.chat_webhook_sealed, a.chat_webhook_sealed) IS NOT NULL THEN json_build_object(
             'sealed', coalesce(o.chat_webhook_sealed, a.chat_webhook_sealed),
             'of_workflow', o.chat_webhook_sealed IS NOT NULL) END AS chat,
           (SELECT json_build_object('connection', c.name, 'channel', coalesce(o.slack_channel, s.channel),
                                     'team_id', s.team_id)
            FROM workspace_slack s JOIN connections c ON c.id = s.connection_id WHERE s.workspace_id = w.id) AS slack
    FROM workspaces w LEFT JOIN workspace_alerts a ON a.workspace_id = w.id
    LEFT JOIN workflow_alerts o ON o.workspace_id = w.id AND o.workflow_id = ${workflowId}
    WHERE w.id = ${workspaceId}
  `);
  return row ?? undefined;
}

/**
 * Replaces the settings. `resolve` gets the present ones and returns the new ones, under the lock of the workspace.
 * Unchanged settings write no audit entry. Throws AppError `invalid` for a workflow that the workspace does not have.
 */
export async function replaceAlerts(
  db: Pool,
  actor: Actor,
  { slackApiUrl }: { slackApiUrl: string },
  resolve: (before: StoredAlerts) => StoredAlerts,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await readAlerts(tx, workspaceId);
    const after = resolve(before);
    const changed = changedFields(before, after);
    if (changed.length === 0) return;
    await requireWorkflows(tx, workspaceId, after);
    await write(tx, workspaceId, after);
    if (changed.includes('slack')) {
      await writeSlack(tx, workspaceId, { slack: after.slack, apiUrl: slackApiUrl });
    }
    await recordAudit(tx, actor, {
      action: 'alerts_update',
      targetType: 'workspace',
      targetId: workspaceId,
      details: detailsOf(changed, after),
    });
  });
}

async function requireWorkflows(
  tx: Tx,
  workspaceId: string,
  { workflows }: StoredAlerts,
): Promise<void> {
  const ids = workflows.map(({ workflow_id }) => workflow_id);
  const known = await tx.anyFirst(statement(z.object({ id: z.string() }))`
    SELECT id FROM workflows WHERE workspace_id = ${workspaceId} AND id = ANY (${sql.array(ids, 'text')})
    FOR KEY SHARE
  `);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  throw new AppError('invalid', `Invalid body: workflows: no workflow has the id '${unknown}'`);
}

async function write(tx: Tx, workspaceId: string, alerts: StoredAlerts): Promise<void> {
  const { sealed, origin, email, events: on, workflows } = alerts;
  await tx.query(statement(z.object({}))`
    INSERT INTO workspace_alerts AS a (workspace_id, chat_webhook_sealed, chat_webhook_origin, email, events, decide_by_link)
    VALUES (${workspaceId}, ${sealed}, ${origin}, ${sql.array(email, 'text')}, ${sql.array(on, 'text')},
            ${alerts.decide_by_link})
    ON CONFLICT (workspace_id) DO UPDATE SET
      chat_webhook_sealed = excluded.chat_webhook_sealed, chat_webhook_origin = excluded.chat_webhook_origin,
      email = excluded.email, events = excluded.events, decide_by_link = excluded.decide_by_link, updated_at = now(),
      link_generation = a.link_generation + CASE WHEN a.decide_by_link AND NOT excluded.decide_by_link THEN 1 ELSE 0 END
  `);
  await tx.query(statement(z.object({}))`
    DELETE FROM workflow_alerts WHERE workspace_id = ${workspaceId}
  `);
  await tx.query(statement(z.object({}))`
    INSERT INTO workflow_alerts (workspace_id, workflow_id, chat_webhook_sealed, chat_webhook_origin, email, events,
                                 slack_channel)
    SELECT ${workspaceId}, w.workflow_id, w.sealed, w.origin,
           CASE WHEN json_typeof(w.email) = 'array' THEN ARRAY(SELECT json_array_elements_text(w.email)) END,
           CASE WHEN json_typeof(w.events) = 'array' THEN ARRAY(SELECT json_array_elements_text(w.events)) END,
           w.slack_channel
    FROM json_to_recordset(${JSON.stringify(workflows)}::json)
         AS w (workflow_id text, sealed text, origin text, email json, events json, slack_channel text)
  `);
}

/** The names of the fields that differ, as requests have them. */
function changedFields(before: StoredAlerts, after: StoredAlerts): string[] {
  const differs = (name: keyof StoredAlerts): boolean =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  return [
    ...(differs('sealed') ? ['chat_webhook_url'] : []),
    ...(differs('email') ? ['email'] : []),
    ...(differs('events') ? ['on'] : []),
    ...(differs('slack') ? ['slack'] : []),
    ...(differs('workflows') ? ['workflows'] : []),
    ...(differs('decide_by_link') ? ['decide_by_link'] : []),
  ];
}

/** Without addresses: only how many, and the server of the webhook. */
const detailsOf = (
  changed: string[],
  { origin, email, events: on, workflows, slack, decide_by_link }: StoredAlerts,
): JsonObject => ({
  changed,
  chat_webhook: origin,
  emails: email.length,
  on,
  workflows: workflows.map(({ workflow_id }) => workflow_id),
  decide_by_link,
  slack: slack === null ? null : { connection: slack.connection, channel: slack.channel },
});
