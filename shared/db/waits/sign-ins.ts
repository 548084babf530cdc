import { z } from 'zod';
import type { MissingSignIn } from '#shared/contract/waits/waiting.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { queueConnectionAlert } from '#shared/db/runs/outbox.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { WaitPlace } from '#shared/graph/waits/wait-call.ts';
import { type Caller, type HeldRun, lockRun } from './waits.ts';

/**
 * Steps that wait until a member signs in to a connection. Who opens a wait locks the connection and the member, as one that
 * signs in, or deletes either of them, does: so a wait sees what came before, and what comes later ends it.
 */

/** How long a step waits for a sign-in. */
export const SIGN_IN_WAIT_DAYS = 7;

/** The account of a member without a token that a step needs. */
export interface MissingAccount {
  connectionId: string;
  connectionName: string;
  memberId: string;
  reason: MissingSignIn;
}

export interface SignInWaitCall extends Caller<WaitPlace> {
  node_id: string;
  label: string;
  account: MissingAccount;
}

/**
 * What the step does. `open`: it waits, so many ms at most. `ready`: the account has changed meanwhile, so it is tried again.
 * `late`, `rejected`: it fails. `gone`: the run no longer accepts the work.
 */
export type SignInWait =
  | { state: 'open'; waitMs: number }
  | { state: 'ready' }
  | { state: 'late' }
  | { state: 'rejected'; by: string | null }
  | { state: 'gone' };

/** Lets a step wait for a sign-in, or says why it does not. Repeating the call changes nothing. */
export async function openSignInWait(db: Pool, call: SignInWaitCall): Promise<SignInWait> {
  return db.transaction(async (tx): Promise<SignInWait> => {
    const run = await lockRun(tx, call);
    if (run === null) return { state: 'gone' };
    const ended = await findEnded(tx, call, run);
    if (ended !== undefined) return ended;
    if (!(await lockMissing(tx, run, call.account))) return { state: 'ready' };
    const isFirst = await isFirstWait(tx, call.account);
    const { opened, wait_ms: waitMs } = await open(tx, call, run);
    // One who has to sign in again got an email when the service refused the token.
    if (opened && isFirst && call.account.reason === 'not_signed_in') {
      await queueMail(tx, call, run);
    }
    return { state: 'open', waitMs };
  });
}

const endedRow = z.object({
  status: z.enum(['late', 'rejected']),
  output: storedJson<{ by?: string | null }>().nullable(),
});

/** The outcome of the wait, if it has ended since the last resume. Ends it if its time is up. */
async function findEnded(
  tx: Tx,
  { run_id, step_key }: WaitPlace,
  { epoch }: HeldRun,
): Promise<SignInWait | undefined> {
  await tx.query(statement(z.object({}))`
    UPDATE run_waits SET status = 'late', ended_at = clock_timestamp()
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND kind = 'connection' AND epoch = ${epoch}
      AND status IN ('open', 'came') AND due_at <= clock_timestamp()
  `);
  const row = await tx.maybeOne(statement(endedRow)`
    UPDATE run_waits SET wake_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND kind = 'connection' AND epoch = ${epoch}
      AND status IN ('late', 'rejected')
    RETURNING status, output
  `);
  if (row === null) return undefined;
  return row.status === 'late'
    ? { state: 'late' }
    : { state: 'rejected', by: row.output?.by ?? null };
}

/** Whether the account still exists and has no token, which stays so until the transaction ends. */
async function lockMissing(
  tx: Tx,
  { workspace_id: workspaceId }: HeldRun,
  { connectionId, memberId }: MissingAccount,
): Promise<boolean> {
  const exists = await tx.exists(statement(z.object({}))`
    SELECT FROM connections WHERE id = ${connectionId} AND workspace_id = ${workspaceId} AND owner = 'member'
    FOR NO KEY UPDATE
  `);
  const active = await tx.exists(statement(z.object({}))`
    SELECT FROM members WHERE id = ${memberId} AND workspace_id = ${workspaceId} AND status = 'active' FOR SHARE
  `);
  if (!exists || !active) return false;
  // After the locks, so that it sees what others have committed.
  return !(await tx.exists(statement(z.object({}))`
    SELECT FROM connections c JOIN connection_tokens t ON t.connection_id = c.id AND t.revision = c.revision
    WHERE c.id = ${connectionId} AND c.workspace_id = ${workspaceId} AND t.holder = ${memberId}
      AND t.sealed_access IS NOT NULL
      AND (t.sealed_refresh IS NOT NULL OR t.expires_at IS NULL OR t.expires_at > now())
  `));
}

const isFirstWait = async (tx: Tx, { connectionId, memberId }: MissingAccount): Promise<boolean> =>
  !(await tx.exists(statement(z.object({}))`
    SELECT FROM run_waits
    WHERE connection_id = ${connectionId} AND member_id = ${memberId} AND status = 'open'
  `));

const openedRow = z.object({ opened: z.boolean(), wait_ms: z.number() });

/** A step that waits again since the last resume keeps its deadline. */
async function open(
  tx: Tx,
  { run_id, step_key, node_id, label, account }: SignInWaitCall,
  { workspace_id, epoch }: HeldRun,
): Promise<z.infer<typeof openedRow>> {
  const { connectionId, connectionName, memberId, reason } = account;
  const waitsFor = JSON.stringify({ for: 'connection', name: connectionName, reason });
  return tx.one(statement(openedRow)`
    INSERT INTO run_waits AS w (run_id, step_key, workspace_id, node_id, label, series, kind, waits_for, epoch, due_at, wake_at,
                                connection_id, member_id)
    SELECT ${run_id}, ${step_key}, ${workspace_id}, ${node_id}, ${label}, ${step_key}, 'connection', ${waitsFor}::json, ${epoch},
           at.due, at.due, ${connectionId}, ${memberId}
    FROM (SELECT clock_timestamp() + ${SIGN_IN_WAIT_DAYS}::int * interval '1 day' AS due) AS at
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = 'open', waits_for = excluded.waits_for, epoch = excluded.epoch, ended_at = NULL, output = NULL,
      connection_id = excluded.connection_id, member_id = excluded.member_id,
      opened_at = CASE WHEN w.epoch = excluded.epoch AND w.status IN ('open', 'came') THEN w.opened_at ELSE excluded.opened_at END,
      due_at = CASE WHEN w.epoch = excluded.epoch AND w.status IN ('open', 'came') THEN w.due_at ELSE excluded.due_at END,
      wake_at = CASE WHEN w.epoch = excluded.epoch AND w.status IN ('open', 'came') THEN w.due_at ELSE excluded.due_at END
    RETURNING opened_at > transaction_timestamp() AS opened,
              greatest(1, extract(epoch FROM due_at - clock_timestamp()) * 1000)::bigint AS wait_ms
  `);
}

async function queueMail(
  tx: Tx,
  { run_id, label, account }: SignInWaitCall,
  { workspace_id }: HeldRun,
): Promise<void> {
  const workflow = await tx.oneFirst(statement(z.object({ name: z.string() }))`
    SELECT w.name FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE r.id = ${run_id} AND r.workspace_id = ${workspace_id}
  `);
  await queueConnectionAlert(tx, {
    workspace_id,
    connection_id: account.connectionId,
    connection_name: account.connectionName,
    member_id: account.memberId,
    step: { run_id, workflow_name: workflow, label },
  });
}

/** Notes that the step does not wait any more, because it has its tokens. */
export const closeSignInWait = (db: Db, { run_id, step_key }: WaitPlace): Promise<unknown> =>
  db.query(statement(z.object({}))`
    UPDATE run_waits SET status = CASE status WHEN 'open' THEN 'came' ELSE status END,
      ended_at = coalesce(ended_at, clock_timestamp()), wake_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND kind = 'connection' AND (status = 'open' OR wake_at IS NOT NULL)
  `);

/** Ends the wait of a step that should not begin any more. */
export const withdrawSignInWait = (db: Db, { run_id, step_key }: WaitPlace): Promise<unknown> =>
  db.query(statement(z.object({}))`
    UPDATE run_waits SET status = 'cancelled', ended_at = clock_timestamp(), wake_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND kind = 'connection' AND status = 'open'
  `);

/** Accounts whose waits end: that of a member, all of a connection, or all of a member. */
type Accounts = { workspaceId: string } & (
  | { connectionId: string; memberId?: string }
  | { memberId: string; connectionId?: never }
);

/** Wakes the steps that wait for a sign-in to these accounts, to be tried again. */
export async function wakeForAccount(
  tx: Tx,
  { workspaceId, connectionId, memberId }: Accounts,
): Promise<void> {
  const accounts = [
    ...(connectionId === undefined ? [] : [sql.fragment`connection_id = ${connectionId}`]),
    ...(memberId === undefined ? [] : [sql.fragment`member_id = ${memberId}`]),
  ];
  await tx.query(statement(z.object({}))`
    WITH waiting AS MATERIALIZED (
      SELECT run_id, step_key FROM run_waits
      WHERE workspace_id = ${workspaceId} AND status = 'open' AND ${sql.join(accounts, sql.fragment` AND `)}
      ORDER BY run_id, step_key FOR UPDATE
    )
    UPDATE run_waits w SET status = 'came', ended_at = clock_timestamp(), wake_at = clock_timestamp()
    FROM waiting g WHERE w.run_id = g.run_id AND w.step_key = g.step_key
  `);
}

const waitingRow = z.object({
  step_key: z.string(),
  node_id: z.string(),
  name: z.string(),
  member_name: z.string().nullable(),
});
/** A step that waits for a sign-in, as a decision about it needs it. */
export type WaitingStep = z.infer<typeof waitingRow>;

/** The step of a run that has waited longest for a sign-in, of those with this node and step key. Locks its wait. */
export async function findWaitingStep(
  tx: Tx,
  {
    workspaceId,
    runId,
    nodeId = null,
    stepKey = null,
  }: {
    workspaceId: string;
    runId: string;
    nodeId?: string | null | undefined;
    stepKey?: string | null | undefined;
  },
): Promise<WaitingStep | undefined> {
  const row = await tx.maybeOne(statement(waitingRow)`
    SELECT w.step_key, w.node_id, w.waits_for ->> 'name' AS name,
           (SELECT m.name FROM members m WHERE m.id = w.member_id AND m.workspace_id = w.workspace_id) AS member_name
    FROM run_waits w
    WHERE w.run_id = ${runId} AND w.workspace_id = ${workspaceId} AND w.kind = 'connection' AND w.status = 'open'
      AND w.node_id = coalesce(${nodeId}, w.node_id) AND w.step_key = coalesce(${stepKey}, w.step_key)
    ORDER BY w.opened_at, w.step_key LIMIT 1 FOR UPDATE OF w
  `);
  return row ?? undefined;
}

/** Ends the wait of a step, which then fails. The caller has locked the wait, and writes the audit entry. */
export const rejectSignInWait = (
  tx: Tx,
  { run_id, step_key }: WaitPlace,
  by: string | null,
): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    UPDATE run_waits SET status = 'rejected', ended_at = clock_timestamp(), wake_at = clock_timestamp(),
      output = ${JSON.stringify({ by })}::json
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND kind = 'connection' AND status = 'open'
  `);
