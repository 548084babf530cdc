import { alertTexts, linkText, type MemberAlert } from '#shared/contract/alerts/alerts.ts';
import { createDecideTokens, decideTokenHash } from '#shared/crypto/decide-tokens.ts';
import { readAssigneeEmail } from '#shared/db/gates/assignments.ts';
import {
  type GateToMail,
  markMailed,
  readGateToMail,
  readRecipients,
  type Recipient,
  storeLink,
} from '#shared/db/gates/decide-links.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import type { Pool } from '#shared/db/pool.ts';
import { decidersOf, isApprover } from '#shared/graph/gates/gate-settings.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Mailer } from '#shared/platform/mailer.ts';

/** The most members who get the email about one gate, and how many at a time. */
const MAX_MAILED = 20;
const AT_ONCE = 5;

interface MemberMailDeps {
  db: Pool;
  config: Pick<Config, 'api' | 'encryptionKey'>;
  mailer: Mailer;
}

interface Attempt {
  idempotencyKey: string;
  signal: AbortSignal;
}

/**
 * Sends an alert to the members whom it concerns: the new assignee, or those who are expected to decide an open gate. If
 * the workspace lets members decide by link, each email has one. Another attempt sends the same links, to those who have no
 * email yet. Throws the first error after trying all.
 */
export async function mailMembers(
  deps: MemberMailDeps,
  alert: MemberAlert,
  attempt: Attempt,
): Promise<void> {
  const place = { runId: alert.run_id, stepKey: alert.step_key };
  const gate = await readGateToMail(deps.db, place);
  const tokenOf = createDecideTokens(deps.config);
  if (gate === undefined || tokenOf === undefined) return mailWithoutLink(deps, alert, attempt);
  if (alert.event === 'requested' && alert.round !== gate.round) return;
  const recipients = await recipientsOf(deps.db, alert, gate);
  const errors: unknown[] = [];
  await eachOf(recipients, AT_ONCE, async (recipient) => {
    try {
      await mailLink({ ...deps, tokenOf }, { alert, gate, recipient }, attempt);
    } catch (error) {
      errors.push(error);
    }
  });
  if (errors.length > 0) throw errors[0];
}

/** An assignee also gets an email without a link. The others see the gate in the console. */
async function mailWithoutLink(
  { db, config, mailer }: MemberMailDeps,
  alert: MemberAlert,
  attempt: Attempt,
): Promise<void> {
  if (alert.event !== 'assigned') return;
  const { run_id: runId, step_key: stepKey, member_id: memberId } = alert;
  const email = await readAssigneeEmail(db, { runId, stepKey, memberId });
  // The gate was decided, or assigned to another member.
  if (email === null) return;
  const { subject, body } = alertTexts(alert, config.api.publicUrl);
  await mailer.send({ to: [email], subject, text: body }, attempt);
}

/** Who is expected to decide: the assignee, else the approvers whom the gate names. Only those who still can. */
async function recipientsOf(
  db: Pool,
  alert: MemberAlert,
  { settings, decisions, starters, assignee_id: assignee }: GateToMail,
): Promise<readonly Recipient[]> {
  if (alert.event === 'assigned' && alert.member_id !== assignee) return [];
  const { workspace_id: workspaceId } = alert;
  const standings = await readStandings(db, workspaceId);
  const progress = { starters, decisions: decisions ?? [] };
  const able = decidersOf(settings ?? {}, standings, progress).members;
  const assigned = able.filter(({ id }) => id === assignee);
  if (assigned.length > 0) return readRecipients(db, workspaceId, [assigned[0]!.id]);
  const named =
    settings?.approvers === undefined ? [] : able.filter((one) => isApprover(settings, one));
  // Those named one by one come before those of a role.
  const isNamed = ({ id }: { id: string }) => settings?.approvers?.members?.includes(id) === true;
  const first = named.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
  return readRecipients(
    db,
    workspaceId,
    first.slice(0, MAX_MAILED).map(({ id }) => id),
  );
}

async function mailLink(
  {
    db,
    config,
    mailer,
    tokenOf,
  }: MemberMailDeps & {
    tokenOf: NonNullable<ReturnType<typeof createDecideTokens>>;
  },
  { alert, gate, recipient }: { alert: MemberAlert; gate: GateToMail; recipient: Recipient },
  { idempotencyKey, signal }: Attempt,
): Promise<void> {
  const { run_id: runId, step_key: stepKey, workspace_id: workspaceId } = alert;
  const mailed = { alert: idempotencyKey, memberId: recipient.id, runId, stepKey };
  const token = tokenOf({ ...mailed, round: gate.round, openedAt: gate.opened_at });
  const link = await storeLink(db, {
    ...mailed,
    tokenHash: decideTokenHash(token),
    workspaceId,
    gate,
  });
  if (link.mailed) return;
  const { publicUrl } = config.api;
  const { subject, body } = alertTexts(alert, publicUrl);
  const text = linkText(body, {
    publicUrl,
    token,
    name: recipient.name,
    expiresAt: new Date(link.expires_at).toISOString(),
  });
  const key = `${idempotencyKey}/${recipient.id}`;
  await mailer.send({ to: [recipient.email], subject, text }, { idempotencyKey: key, signal });
  await markMailed(db, link.id);
}
