import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AuditVerification } from '#shared/contract/audit/audit.ts';
import { countSealed } from '#shared/db/people/member-stats.ts';
import {
  type Db,
  type FragmentSqlToken,
  inSnapshot,
  type Pool,
  sql,
  statement,
  type Tx,
} from '#shared/db/pool.ts';
import { verifyToolCalls } from './tool-calls.ts';

/** Entries of one workspace sealed in one transaction. */
export const SEAL_BATCH = 500;

/**
 * The hashed content of an entry: all its columns as a JSON list of texts and nulls, in the order of the table.
 * `details` is in the text form of `jsonb`, the time in UTC with microseconds.
 */
export const canonicalEntry = (entry: FragmentSqlToken) => sql.fragment`json_build_array(
  ${entry}.id, ${entry}.seq::text, ${entry}.workspace_id, ${entry}.action, ${entry}.actor_id, ${entry}.actor_name,
  ${entry}.target_type, ${entry}.target_id, ${entry}.details::text,
  to_char(${entry}.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text`;

/** The bytes of an entry `a`, with their hash. */
const hashedEntry = sql.fragment`(
  SELECT e.entry, sha256(e.entry) AS digest
  FROM (SELECT convert_to(${canonicalEntry(sql.fragment`a`)}, 'UTF8') AS entry) e)`;

const nothing = z.object({});
const queuedRow = z.object({ seq: z.number(), id: z.string(), canonical: z.string() });
const placeRow = z.object({ position: z.number(), hash: z.string() });

/** The workspaces that have unsealed entries. */
export async function listUnsealedWorkspaces(db: Db): Promise<readonly string[]> {
  // Skips from one workspace to the next in the index, regardless of the number of entries.
  return db.anyFirst(statement(z.object({ id: z.string() }))`
    WITH RECURSIVE waiting AS (
      SELECT min(workspace_id) AS id FROM audit_unsealed
      UNION ALL
      SELECT (SELECT min(workspace_id) FROM audit_unsealed WHERE workspace_id > waiting.id)
      FROM waiting WHERE waiting.id IS NOT NULL
    )
    SELECT id FROM waiting WHERE id IS NOT NULL
  `);
}

/**
 * Seals the oldest unsealed entries of a workspace, at most `batch`, and returns how many. Of several concurrent
 * processes, one seals and the others return 0. No transaction that writes an entry waits for this. Throws when the end
 * of the chain was tampered with, so that it cannot be continued.
 */
export async function sealAuditEntries(
  db: Pool,
  workspaceId: string,
  batch = SEAL_BATCH,
): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(statement(nothing)`
      INSERT INTO audit_chains (workspace_id) VALUES (${workspaceId}) ON CONFLICT DO NOTHING
    `);
    // Only the holder of the row lock seals or sweeps; the queue is read after the lock, so nothing is sealed twice.
    const head = await tx.maybeOne(statement(placeRow)`
      SELECT head_position AS position, encode(head_hash, 'hex') AS hash FROM audit_chains
      WHERE workspace_id = ${workspaceId} FOR UPDATE SKIP LOCKED
    `);
    if (head === null) return 0;
    const entries = await tx.any(statement(queuedRow)`
      SELECT a.seq, a.id, ${canonicalEntry(sql.fragment`a`)} AS canonical
      FROM (SELECT seq FROM audit_unsealed WHERE workspace_id = ${workspaceId} ORDER BY seq LIMIT ${batch}) u
      JOIN audit_log a ON a.seq = u.seq AND a.workspace_id = ${workspaceId}
      ORDER BY a.seq
    `);
    if (entries.length > 0) await appendSeals(tx, workspaceId, head, entries);
    return entries.length;
  });
}

async function appendSeals(
  tx: Tx,
  workspaceId: string,
  head: ChainPlace,
  entries: readonly z.infer<typeof queuedRow>[],
): Promise<void> {
  let { position, hash } = head;
  const seals = entries.map((entry) => {
    const previous = hash;
    position += 1;
    const digest = createHash('sha256').update(entry.canonical, 'utf8').digest();
    hash = createHash('sha256').update(Buffer.from(previous, 'hex')).update(digest).digest('hex');
    return [entry.seq, position, entry.id, previous, digest.toString('hex'), hash];
  });
  await tx.query(statement(nothing)`
    WITH s AS MATERIALIZED (
      SELECT * FROM ${sql.unnest(seals, ['int8', 'int8', 'text', 'text', 'text', 'text'])}
        AS s (seq, position, audit_id, previous_hash, entry_digest, hash)
    ), sealed AS (
      INSERT INTO audit_seals (workspace_id, position, audit_id, previous_hash, entry_digest, hash)
      SELECT ${workspaceId}, position, audit_id, decode(previous_hash, 'hex'), decode(entry_digest, 'hex'),
             decode(hash, 'hex') FROM s
    ), done AS (
      DELETE FROM audit_unsealed u USING s WHERE u.workspace_id = ${workspaceId} AND u.seq = s.seq
    ), ${countSealed(sql.fragment`s`, workspaceId)}
    UPDATE audit_chains SET head_position = ${position}, head_hash = decode(${hash}, 'hex')
    WHERE workspace_id = ${workspaceId}
  `);
}

/**
 * Deletes up to `batch` of the oldest sealed entries created before that time (ISO 8601), with their seals; returns how
 * many. Unsealed entries stay, and so do all entries after one that must stay.
 */
export async function sweepAudit(
  db: Db,
  sweep: { workspaceId: string; before: string; batch: number },
): Promise<number> {
  return db.oneFirst(statement(z.object({ removed: z.number() }))`
    SELECT sweep_audit(${sweep.workspaceId}, ${sweep.before}::timestamptz, ${sweep.batch}::integer) AS removed
  `);
}

/** The logs to verify: one for every workspace, and one for every chain whose workspace was deleted. */
export async function listAuditedWorkspaces(db: Db): Promise<readonly string[]> {
  return db.anyFirst(statement(z.object({ id: z.string() }))`
    SELECT id FROM workspaces UNION SELECT workspace_id FROM audit_chains ORDER BY id
  `);
}

/** A position in a chain. The hash is in hexadecimal. */
export interface ChainPlace {
  position: number;
  hash: string;
}

type Problem = NonNullable<AuditVerification['first_problem']>;

const GENESIS: ChainPlace = { position: 0, hash: '00'.repeat(32) };

/**
 * Verifies the whole chain of one workspace against its entries, and the decisions about tool calls against the calls
 * that were made, as of one moment, reading a bounded number of rows at a time. The first problem is the one at the
 * lowest position; entries without a position come last. `noted` is a head that was recorded elsewhere in the past: a
 * rewritten chain does not contain it.
 */
export async function verifyAudit(
  db: Pool,
  workspaceId: string,
  noted?: ChainPlace,
): Promise<AuditVerification> {
  return inSnapshot(db, async (tx) => {
    const chain = await readChain(tx, workspaceId);
    const problem = baseProblem(chain) ?? (await walkSeals(tx, workspaceId, chain, noted));
    const entries = await walkEntries(tx, workspaceId);
    const first = problem ?? entries.stray;
    const toolCalls = await verifyToolCalls(tx, workspaceId);
    return {
      valid: first === undefined && toolCalls.problems.length === 0,
      sealed: chain.seals,
      unsealed: entries.unsealed,
      head: chain.head,
      first_problem: first,
      tool_calls: toolCalls,
    };
  });
}

const chainRow = z.object({
  head_position: z.number().nullable(),
  head_hash: z.string().nullable(),
  base_position: z.number().nullable(),
  base_hash: z.string().nullable(),
  swept: z.number(),
  swept_position: z.number(),
  swept_hash: z.string().nullable(),
  seals: z.number(),
});

interface Chain {
  head: ChainPlace | null;
  base: ChainPlace;
  /** The number of entries that sweeps removed, and the base after the last sweep. */
  swept: number;
  sweptTo: ChainPlace;
  seals: number;
}

async function readChain(tx: Tx, workspaceId: string): Promise<Chain> {
  const row = await tx.one(statement(chainRow)`
    SELECT c.head_position, encode(c.head_hash, 'hex') AS head_hash,
           c.base_position, encode(c.base_hash, 'hex') AS base_hash,
           coalesce((SELECT sum(removed) FROM audit_sweeps WHERE workspace_id = w.id), 0) AS swept,
           coalesce(l.base_position, 0) AS swept_position, encode(l.base_hash, 'hex') AS swept_hash,
           (SELECT count(*) FROM audit_seals WHERE workspace_id = w.id) AS seals
    FROM (SELECT ${workspaceId}::text AS id) w
    LEFT JOIN audit_chains c ON c.workspace_id = w.id
    LEFT JOIN LATERAL (SELECT base_position, base_hash FROM audit_sweeps s
                       WHERE s.workspace_id = w.id ORDER BY s.base_position DESC LIMIT 1) l ON true
  `);
  const place = (position: number | null, hash: string | null): ChainPlace | null =>
    position === null || hash === null ? null : { position, hash };
  return {
    head: place(row.head_position, row.head_hash),
    base: place(row.base_position, row.base_hash) ?? GENESIS,
    swept: row.swept,
    sweptTo: place(row.swept_position, row.swept_hash) ?? GENESIS,
    seals: row.seals,
  };
}

const same = (one: ChainPlace, other: ChainPlace): boolean =>
  one.position === other.position && one.hash === other.hash;

function baseProblem({ head, base, swept, sweptTo, seals }: Chain): Problem | undefined {
  if (head === null && (seals > 0 || swept > 0)) {
    return { position: null, problem: 'the head of the chain was removed' };
  }
  if (!same(base, sweptTo) || base.position !== swept) {
    return {
      position: base.position,
      problem: 'the base of the chain is not where the sweeps left it',
    };
  }
  return undefined;
}

const sealPage = z.object({
  position: z.number().nullable(),
  hash: z.string().nullable(),
  noted_hash: z.string().nullable(),
  bad_position: z.number().nullable(),
  bad_audit_id: z.string().nullable(),
  problem: z.string().nullable(),
});

/**
 * Checks the seals from the base to the head, a thousand at a time. With larger pages, the planner would scan the whole
 * log for every page instead of looking entries up.
 */
async function walkSeals(
  tx: Tx,
  workspaceId: string,
  chain: Chain,
  noted: ChainPlace | undefined,
): Promise<Problem | undefined> {
  const forged = (position: number): Problem => ({
    position,
    problem: 'the chain does not hold the noted head',
  });
  let at = chain.base;
  if (noted?.position === at.position && !same(at, noted)) return forged(noted.position);
  for (;;) {
    const page = await tx.one(statement(sealPage)`
      WITH page AS MATERIALIZED (
        SELECT position, audit_id, previous_hash, entry_digest, hash,
               lag(position, 1, ${at.position}::bigint) OVER (ORDER BY position) AS position_before,
               lag(hash, 1, decode(${at.hash}, 'hex')) OVER (ORDER BY position) AS hash_before
        FROM (SELECT * FROM audit_seals WHERE workspace_id = ${workspaceId} AND position > ${at.position}
              ORDER BY position LIMIT 1000) s
      ), judged AS (
        SELECT p.position AS seal_position, p.position_before, p.audit_id,
          CASE WHEN p.position <> p.position_before + 1 THEN 'a seal was removed'
               WHEN a.id IS NULL THEN 'the entry was removed'
               WHEN p.previous_hash <> p.hash_before THEN 'the seal does not follow the one before it'
               WHEN e.digest <> p.entry_digest OR p.hash <> sha256(p.previous_hash || coalesce(p.entry_digest, e.entry))
                 THEN 'the entry or its seal was changed'
          END AS problem
        FROM page p LEFT JOIN audit_log a ON a.id = p.audit_id AND a.workspace_id = ${workspaceId}
        LEFT JOIN LATERAL ${hashedEntry} AS e ON a.id IS NOT NULL
      ), last AS (SELECT position, hash FROM page ORDER BY position DESC LIMIT 1),
      bad AS (SELECT * FROM judged WHERE problem IS NOT NULL ORDER BY seal_position LIMIT 1)
      SELECT last.position, encode(last.hash, 'hex') AS hash,
             (SELECT encode(hash, 'hex') FROM page WHERE position = ${noted?.position ?? 0}) AS noted_hash,
             CASE WHEN bad.problem = 'a seal was removed' THEN bad.position_before + 1 ELSE bad.seal_position END
               AS bad_position,
             CASE WHEN bad.problem <> 'a seal was removed' THEN bad.audit_id END AS bad_audit_id,
             bad.problem
      FROM (VALUES (1)) one LEFT JOIN last ON true LEFT JOIN bad ON true
    `);
    if (page.problem !== null) {
      return {
        position: page.bad_position,
        ...(page.bad_audit_id === null ? {} : { audit_id: page.bad_audit_id }),
        problem: page.problem,
      };
    }
    if (noted !== undefined && page.noted_hash !== null && page.noted_hash !== noted.hash) {
      return forged(noted.position);
    }
    if (page.position === null || page.hash === null) break;
    at = { position: page.position, hash: page.hash };
  }
  const head = chain.head ?? GENESIS;
  if (noted !== undefined && noted.position > head.position) return forged(noted.position);
  if (same(at, head)) return undefined;
  return at.position < head.position
    ? { position: at.position + 1, problem: 'a seal was removed' }
    : { position: head.position + 1, problem: 'the head of the chain is not its newest seal' };
}

const entryPage = z.object({
  last: z.number().nullable(),
  unsealed: z.number(),
  stray: z.string().nullable(),
});

/**
 * Every entry must be sealed or queued for sealing. Otherwise it was inserted, or lost its seal, without the triggers.
 */
async function walkEntries(
  tx: Tx,
  workspaceId: string,
): Promise<{ unsealed: number; stray?: Problem }> {
  let after = 0;
  let unsealed = 0;
  let stray: string | null = null;
  for (;;) {
    const page = await tx.one(statement(entryPage)`
      SELECT max(a.seq) AS last, count(*) FILTER (WHERE s.audit_id IS NULL) AS unsealed,
             (array_agg(a.id ORDER BY a.seq) FILTER (WHERE s.audit_id IS NULL AND u.seq IS NULL))[1] AS stray
      FROM (SELECT id, seq FROM audit_log WHERE workspace_id = ${workspaceId} AND seq > ${after}
            ORDER BY seq LIMIT 1000) a
      LEFT JOIN audit_seals s ON s.audit_id = a.id AND s.workspace_id = ${workspaceId}
      LEFT JOIN audit_unsealed u ON u.workspace_id = ${workspaceId} AND u.seq = a.seq
    `);
    if (page.last === null) break;
    after = page.last;
    unsealed += page.unsealed;
    stray ??= page.stray;
  }
  if (stray === null) return { unsealed };
  return {
    unsealed,
    stray: {
      position: null,
      audit_id: stray,
      problem: 'the entry is neither sealed nor waiting to be sealed',
    },
  };
}
