import { z } from 'zod';
import { statement, sql, type Tx } from '#shared/db/pool.ts';
import { canonicalEntry } from './chain.ts';

/** The part of a workspace's chain that shows what the audit log has about a run. */
export interface RunChain {
  /** The seal before the first entry of the run. */
  before: { position: number; hash: string };
  /** The position of the last seal to show. */
  last: number;
  /** Whether that is the newest one. */
  toHead: boolean;
  /** Whether retention has removed entries that are younger than the run. */
  swept: boolean;
}

/** The seals after the last entry of a run that are shown. Of a longer chain, none are. */
const MAX_SEALS = 100_000;

const placeRow = z.object({
  first: z.number().nullable(),
  last: z.number().nullable(),
  head: z.number(),
  head_hash: z.string(),
  before_hash: z.string().nullable(),
  swept: z.boolean(),
});

export async function findRunChain(
  tx: Tx,
  { workspaceId, runId }: { workspaceId: string; runId: string },
): Promise<RunChain> {
  const row = await tx.one(statement(placeRow)`
    SELECT own.first, own.last, coalesce(c.head_position, 0) AS head,
           coalesce(encode(c.head_hash, 'hex'), repeat('00', 32)) AS head_hash,
           (SELECT encode(s.previous_hash, 'hex') FROM audit_seals s
            WHERE s.workspace_id = ${workspaceId} AND s.position = own.first) AS before_hash,
           EXISTS (SELECT FROM audit_sweeps w JOIN runs r ON r.id = ${runId}
                   WHERE w.workspace_id = ${workspaceId} AND w.removed > 0 AND w.before > r.created_at) AS swept
    FROM (
      SELECT min(s.position) AS first, max(s.position) AS last
      FROM audit_log a JOIN audit_seals s ON s.audit_id = a.id AND s.workspace_id = ${workspaceId}
      WHERE a.workspace_id = ${workspaceId} AND a.target_type = 'run' AND a.target_id = ${runId}
    ) own LEFT JOIN audit_chains c ON c.workspace_id = ${workspaceId}
  `);
  const { first, last, head, head_hash, before_hash, swept } = row;
  if (first === null || last === null || before_hash === null) {
    return { before: { position: head, hash: head_hash }, last: head, toHead: true, swept };
  }
  const toHead = head - last <= MAX_SEALS;
  const before = { position: first - 1, hash: before_hash };
  return { before, last: toHead ? head : last, toHead, swept };
}

const SEAL_PAGE = 1_000;
const sealRow = z.object({
  position: z.number(),
  digest: z.string().nullable(),
  hash: z.string(),
});

/** The seals of the chain, page by page. */
export async function* readSeals(
  tx: Tx,
  workspaceId: string,
  { before, last }: RunChain,
): AsyncGenerator<readonly z.infer<typeof sealRow>[], void> {
  let at = before.position;
  while (at < last) {
    const rows = await tx.any(statement(sealRow)`
      SELECT position, encode(entry_digest, 'hex') AS digest, encode(hash, 'hex') AS hash FROM audit_seals
      WHERE workspace_id = ${workspaceId} AND position > ${at} AND position <= ${last}
      ORDER BY position LIMIT ${SEAL_PAGE}
    `);
    const end = rows.at(-1);
    if (end === undefined) return;
    at = end.position;
    yield rows;
  }
}

const ENTRY_PAGE = 500;
const entryRow = z.object({
  seq: z.number(),
  position: z.number().nullable(),
  entry: z.string(),
});

/** The entries about a run, as they are sealed, oldest first, page by page. */
export async function* readRunEntries(
  tx: Tx,
  { workspaceId, runId }: { workspaceId: string; runId: string },
): AsyncGenerator<readonly z.infer<typeof entryRow>[], void> {
  let after = 0;
  for (;;) {
    const rows = await tx.any(statement(entryRow)`
      SELECT a.seq, s.position, ${canonicalEntry(sql.fragment`a`)} AS entry
      FROM audit_log a LEFT JOIN audit_seals s ON s.audit_id = a.id AND s.workspace_id = ${workspaceId}
      WHERE a.workspace_id = ${workspaceId} AND a.target_type = 'run' AND a.target_id = ${runId} AND a.seq > ${after}
      ORDER BY a.seq LIMIT ${ENTRY_PAGE}
    `);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    yield rows;
  }
}
