import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type PlanName, planNames, plans } from '#shared/people/plans.ts';
import { noteTransaction, transactionId } from '#shared/db/commit-outcome.ts';
import { thisMonth } from '#shared/db/month.ts';
import { type Db, type Pool, refusalOf, sql, statement, syncCommit } from '#shared/db/pool.ts';

/** `limit` null: unlimited. Requests that were refused because the allowance was exhausted also count as used. */
export interface Allowance {
  used: number;
  limit: number | null;
}

/** The use of a key's allowances in a calendar month (`2026-11-01`, UTC). */
export interface DataAccount {
  month: string;
  plan: PlanName;
  /** By the plan of the workspace, and by the key itself. */
  requests: { plan: Allowance; key: Allowance };
  credits: { plan: Allowance; key: Allowance };
}

/** A valid key, and its account including the request. */
export interface AdmittedKey {
  caller: {
    keyId: string;
    keyName: string;
    workspaceId: string;
    isDemo: boolean;
    scopes: readonly string[];
  };
  ipAllowlist: readonly string[];
  account: DataAccount;
}

const admittedRow = z.object({
  id: z.string(),
  name: z.string(),
  workspace_id: z.string(),
  is_demo: z.boolean(),
  scopes: z.array(z.string()),
  ip_allowlist: z.array(z.string()),
  month: z.string(),
  plan: z.enum(planNames),
  plan_requests: z.number(),
  plan_credits: z.number(),
  key_requests: z.number(),
  key_credits: z.number(),
  key_request_limit: z.number().nullable(),
  key_credit_limit: z.number().nullable(),
  set_config: z.unknown(),
});

/**
 * Counts `count` requests of the key with this SHA-256, and returns the key once per request, in the order of counting.
 * Returns nothing and writes nothing for an unknown, revoked or expired key. The key, its allowances and the plan are
 * read while both accounts are locked, even after a wait. Rows are always locked in the same order, the workspace's
 * first, here and wherever credits are taken. The commit does not wait for the disk: a crash of the database server may
 * lose the last counts, but no charges.
 */
export async function admitRequests(
  db: Pool,
  hash: Buffer,
  count: number,
): Promise<readonly AdmittedKey[]> {
  const admission = statement(admittedRow)`
    WITH held AS MATERIALIZED (
      SELECT id, name, workspace_id, mode = 'test' AS is_demo, ${thisMonth} AS month
      FROM data_keys
      WHERE hash = ${sql.binary(hash)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    ), plan_month AS (
      INSERT INTO data_months AS m (workspace_id, month, requests)
      SELECT workspace_id, month, ${count}::int FROM held
      ON CONFLICT (workspace_id, month) DO UPDATE SET requests = m.requests + excluded.requests
      RETURNING requests, credits
    ), key_month AS (
      INSERT INTO data_key_months AS m (key_id, month, workspace_id, requests)
      SELECT id, month, workspace_id, ${count}::int FROM held, plan_month
      ON CONFLICT (key_id, month) DO UPDATE SET requests = m.requests + excluded.requests
      RETURNING key_id, requests, credits
    )
    SELECT h.id, h.name, h.workspace_id, h.is_demo, h.month::text AS month, n.scopes, n.ip_allowlist, n.plan,
           n.request_allowance AS key_request_limit, n.credit_allowance AS key_credit_limit,
           p.requests AS plan_requests, p.credits AS plan_credits,
           k.requests AS key_requests, k.credits AS key_credits, ${syncCommit(false)}
    -- With the id from the row that is locked last: what was read before a wait may have changed.
    FROM held h, plan_month p, key_month k, data_key_now(k.key_id) n
    WHERE CASE WHEN n.usable THEN true ELSE refuse('key', '{}') END
  `;
  const row = await db.maybeOne(admission).catch((error: unknown) => {
    if (refusalOf(error)?.reason !== 'key') throw error;
    return null;
  });
  if (row === null) return [];
  return Array.from({ length: count }, (_, index) => admittedKey(row, count - 1 - index));
}

/** The key as one request sees it. `after` is the number of requests counted after it in the same statement. */
function admittedKey(row: z.infer<typeof admittedRow>, after: number): AdmittedKey {
  const { dataRequestsPerMonth, dataCreditsPerMonth } = plans[row.plan];
  const caller = {
    keyId: row.id,
    keyName: row.name,
    workspaceId: row.workspace_id,
    isDemo: row.is_demo,
    scopes: row.scopes,
  };
  return {
    caller,
    ipAllowlist: row.ip_allowlist,
    account: {
      month: row.month,
      plan: row.plan,
      requests: {
        plan: { used: row.plan_requests - after, limit: dataRequestsPerMonth },
        key: { used: row.key_requests - after, limit: row.key_request_limit },
      },
      credits: {
        plan: { used: row.plan_credits, limit: dataCreditsPerMonth },
        key: { used: row.key_credits, limit: row.key_credit_limit },
      },
    },
  };
}

/** The payer, in the month in which their request was admitted. */
export interface Payer {
  workspaceId: string;
  keyId: string;
  month: string;
}

/** The cost of one response. `credits` is above 0. */
export interface Charge {
  requestId: string;
  operation: string;
  credits: number;
  records: number;
}

/** Whether the credits were taken, and the accounts after this and all earlier charges. */
export interface Charged {
  taken: boolean;
  plan: PlanName;
  credits: { plan: Allowance; key: Allowance };
}

const ledgerRow = z.object({
  request_id: z.string(),
  operation: z.string(),
  credits: z.number(),
  records: z.number(),
});

const accountsRow = z.object({
  plan: z.enum(planNames),
  plan_used: z.number(),
  plan_limit: z.number().nullable(),
  key_used: z.number(),
  key_limit: z.number().nullable(),
});
const chargedRow = accountsRow.extend({ transaction: z.string(), taken: z.boolean() });

const creditsPerMonth = JSON.stringify(
  Object.fromEntries(planNames.map((name) => [name, plans[name].dataCreditsPerMonth])),
);

/** Charges that one statement takes, with a unique id to find them again. */
export interface ChargeBatch {
  id: string;
  charges: readonly Charge[];
}

export const chargeBatch = (charges: readonly Charge[]): ChargeBatch => ({
  id: randomUUID(),
  charges,
});

/**
 * Takes credits for a few responses, in order. Each charge is taken in full or not at all; one that does not fit leaves
 * the remaining credits to later ones. One statement with both accounts locked, so that concurrent processes never
 * exceed a limit. The plan and the key's allowance are read under the lock; a key that was revoked after its request
 * was admitted still pays. Every charge taken has a row in the ledger. Returns one result per charge, or none when the
 * accounts do not exist; an admitted request guarantees that they do.
 */
export async function takeCredits(
  db: Db,
  payer: Payer,
  batch: ChargeBatch,
): Promise<readonly Charged[]> {
  const costs = batch.charges.map(({ requestId, ...cost }, index) => ({
    n: index + 1,
    request_id: requestId,
    ...cost,
  }));
  const rows = await db.any(statement(chargedRow)`
    WITH RECURSIVE cost AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(costs)}::json)
        AS c (n int, request_id text, operation text, credits int, records int)
    ), plan_month AS MATERIALIZED (
      SELECT credits FROM data_months
      WHERE workspace_id = ${payer.workspaceId} AND month = ${payer.month}::date
      FOR NO KEY UPDATE
    ), key_month AS MATERIALIZED (
      SELECT m.key_id, m.credits, p.credits AS plan_credits FROM plan_month p, data_key_months m
      WHERE m.key_id = ${payer.keyId} AND m.month = ${payer.month}::date AND m.workspace_id = ${payer.workspaceId}
      FOR NO KEY UPDATE OF m
    ), account AS MATERIALIZED (
      SELECT n.plan, k.plan_credits AS plan_used, (${creditsPerMonth}::json ->> n.plan)::bigint AS plan_limit,
             k.credits AS key_used, n.credit_allowance AS key_limit
      -- With the id from the row that is locked last: what was read before a wait may have changed.
      FROM key_month k, data_key_now(k.key_id) n
    ), walk AS (
      SELECT 0 AS n, 0::bigint AS spent, false AS taken
      UNION ALL
      SELECT c.n, CASE WHEN fits THEN w.spent + c.credits ELSE w.spent END, fits
      FROM walk w JOIN cost c ON c.n = w.n + 1, account a,
           LATERAL (SELECT coalesce(a.plan_used + w.spent + c.credits <= a.plan_limit, true)
                       AND coalesce(a.key_used + w.spent + c.credits <= a.key_limit, true)) AS f (fits)
    ), taken AS (
      SELECT c.* FROM cost c JOIN walk w ON w.n = c.n WHERE w.taken
    ), total AS (
      SELECT sum(credits) AS credits, sum(records) AS records FROM taken HAVING count(*) > 0
    ), plan_charged AS (
      UPDATE data_months m SET credits = m.credits + t.credits, records = m.records + t.records FROM total t
      WHERE m.workspace_id = ${payer.workspaceId} AND m.month = ${payer.month}::date
    ), key_charged AS (
      UPDATE data_key_months m SET credits = m.credits + t.credits, records = m.records + t.records FROM total t
      WHERE m.key_id = ${payer.keyId} AND m.month = ${payer.month}::date AND m.workspace_id = ${payer.workspaceId}
    ), ledger AS (
      INSERT INTO data_charges (workspace_id, key_id, month, request_id, operation, credits, records, batch)
      SELECT ${payer.workspaceId}, ${payer.keyId}, ${payer.month}::date, request_id, operation, credits, records,
             ${batch.id}::uuid
      FROM taken ORDER BY n
    )
    SELECT ${transactionId} AS transaction, w.taken, a.plan, a.plan_used + w.spent AS plan_used, a.plan_limit,
           a.key_used + w.spent AS key_used, a.key_limit
    FROM walk w, account a WHERE w.n > 0 ORDER BY w.n
  `);
  const [first] = rows;
  if (first !== undefined) {
    noteTransaction(db, first.transaction, sql.fragment`SELECT ${batchRows(payer, batch)}`);
  }
  return rows.map((row) => ({ taken: row.taken, ...toAccounts(row) }));
}

/** Batches are only looked up right after they were sent. */
const LOOKED_FOR_MINUTES = 10;

/** The charges of a batch that were taken. */
const batchRows = ({ workspaceId }: Payer, { id }: ChargeBatch) => sql.fragment`
  FROM data_charges
  WHERE workspace_id = ${workspaceId} AND batch = ${id}::uuid
    AND charged_at > now() - ${LOOKED_FOR_MINUTES}::int * interval '1 minute'`;

const toAccounts = (row: z.infer<typeof accountsRow>): Omit<Charged, 'taken'> => ({
  plan: row.plan,
  credits: {
    plan: { used: row.plan_used, limit: row.plan_limit },
    key: { used: row.key_used, limit: row.key_limit },
  },
});

/**
 * The result of a `takeCredits` whose response was lost, with the current accounts. Null when it took nothing. Waits
 * for the workspace's account first, so that the batch is no longer in progress.
 */
export async function findTaken(
  db: Pool,
  payer: Payer,
  batch: ChargeBatch,
): Promise<readonly Charged[] | null> {
  return db.transaction(async (tx) => {
    await tx.query(statement(z.object({}))`
      SELECT FROM data_months
      WHERE workspace_id = ${payer.workspaceId} AND month = ${payer.month}::date FOR NO KEY UPDATE
    `);
    const accounts = await tx.maybeOne(statement(accountsRow)`
      SELECT s.plan, m.credits AS plan_used, (${creditsPerMonth}::json ->> s.plan)::bigint AS plan_limit,
             km.credits AS key_used, k.monthly_credit_allowance AS key_limit
      FROM data_months m
      JOIN workspaces s ON s.id = m.workspace_id
      JOIN data_key_months km ON km.key_id = ${payer.keyId} AND km.month = m.month AND km.workspace_id = m.workspace_id
      JOIN data_keys k ON k.id = km.key_id
      WHERE m.workspace_id = ${payer.workspaceId} AND m.month = ${payer.month}::date
    `);
    const found = await tx.any(statement(ledgerRow)`
      SELECT request_id, operation, credits, records ${batchRows(payer, batch)} ORDER BY seq
    `);
    if (accounts === null || found.length === 0) return null;
    const ledger = [...found];
    return batch.charges.map((charge) => {
      const taken = isOf(charge, ledger[0]);
      if (taken) ledger.shift();
      return { taken, ...toAccounts(accounts) };
    });
  });
}

const isOf = (charge: Charge, row: z.infer<typeof ledgerRow> | undefined): boolean =>
  row?.request_id === charge.requestId &&
  row.operation === charge.operation &&
  row.credits === charge.credits &&
  row.records === charge.records;
