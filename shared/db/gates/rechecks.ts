import { z } from 'zod';
import { beginningOf } from '#shared/values/excerpt.ts';
import type { GateRecheck, RecheckDifference, Stale } from '#shared/contract/gates/recheck.ts';
import { type Db, jsonOrNull, sql, statement } from '#shared/db/pool.ts';
import type { Json } from '#shared/json.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { FinishedStep, GateReads, RepeatedRead } from '#shared/graph/gates/repeated-reads.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { storedTime } from '#shared/time.ts';

/** One round of a gate. */
export interface GateRound {
  runId: string;
  step_key: string;
  round: number;
}

/** A read that is repeated by a rehearsal, or why none could be started. */
export interface StartedRead extends RepeatedRead {
  run_id: string | null;
  problem?: string;
}

/** One time at which the reads of a gate were repeated; stored with the gate. */
export interface StoredRecheck {
  id: string;
  /** Of what the gate showed for the decision. Null: what it sets in motion is not known. */
  digest: string | null;
  started_at: string;
  /** Absent until the reads are started. */
  runs?: StartedRead[];
  /** Absent while it is in progress. */
  finished_at?: string;
  differences?: RecheckDifference[];
  more?: number;
}

/** How long its result counts for further decisions, and the least time between two rechecks of a gate. */
const REUSED_MS = 5_000;

/** Begins a recheck, unless one is in progress or has just ended. Returns the present one. */
export async function beginRecheck(
  db: Db,
  { runId, step_key, round }: GateRound,
  { id, digest, lostMs }: { id: string; digest: string | null; lostMs: number },
): Promise<StoredRecheck | undefined> {
  const begun = { id, digest };
  const row = await db.maybeOneFirst(statement(z.object({ recheck: storedJson<StoredRecheck>() }))`
    UPDATE gates SET recheck = ${JSON.stringify(begun)}::jsonb || jsonb_build_object('started_at', clock_timestamp())
    WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int AND status = 'open'
      AND (recheck IS NULL OR CASE WHEN recheck ? 'finished_at'
        THEN (recheck ->> 'finished_at')::timestamptz < clock_timestamp() - ${REUSED_MS}::float8 * interval '1 ms'
        ELSE (recheck ->> 'started_at')::timestamptz < clock_timestamp() - ${lostMs}::float8 * interval '1 ms' END)
    RETURNING recheck
  `);
  return row ?? undefined;
}

const presentRow = z.object({
  recheck: storedJson<StoredRecheck | null>(),
  age_ms: z.number().nullable(),
});

/** The last recheck of an open gate, and how long ago it began; undefined when the gate is not open. */
export async function readRecheck(
  db: Db,
  { runId, step_key, round }: GateRound,
): Promise<{ recheck: StoredRecheck | null; ageMs: number } | undefined> {
  const row = await db.maybeOne(statement(presentRow)`
    SELECT recheck, (extract(epoch FROM clock_timestamp() - (recheck ->> 'started_at')::timestamptz) * 1000)::float8 AS age_ms
    FROM gates WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int AND status = 'open'
  `);
  return row === null ? undefined : { recheck: row.recheck, ageMs: row.age_ms ?? 0 };
}

/** Stores the reads of a recheck as started. */
export async function storeStarted(
  db: Db,
  { runId, step_key, round }: GateRound,
  { id, runs }: { id: string; runs: readonly StartedRead[] },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE gates SET recheck = recheck || jsonb_build_object('runs', ${JSON.stringify(runs)}::jsonb)
    WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int AND recheck ->> 'id' = ${id}
  `);
}

/** Ends a recheck. The first end counts. */
export async function finishRecheck(
  db: Db,
  { runId, step_key, round }: GateRound,
  {
    id,
    differences,
    more,
  }: { id: string; differences: readonly RecheckDifference[]; more: number },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE gates SET recheck = recheck || jsonb_build_object('finished_at', clock_timestamp(),
      'differences', ${JSON.stringify(differences)}::jsonb, 'more', ${more}::int)
    WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int AND recheck ->> 'id' = ${id}
      AND NOT recheck ? 'finished_at'
  `);
}

/** What an open gate depends on. */
export interface ReadsOfGate extends GateRound {
  reads: GateReads;
}

/** Stores what an open gate depends on. */
export async function storeReads(
  db: Db,
  { runId, step_key, round, reads }: ReadsOfGate,
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE gates SET reads = ${jsonOrNull(reads)}
    WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int AND status = 'open'
  `);
}

const finishedRow = z.object({
  step_key: z.string(),
  node_id: z.string(),
  iteration: z.array(z.number()),
  keys: z.array(z.string()).nullable(),
});

/** The finished steps of a run, in the order in which they ended. Turns and calls of agents are not steps of the graph. */
export async function readFinishedSteps(db: Db, runId: string): Promise<FinishedStep[]> {
  const rows = await db.any(statement(finishedRow)`
    SELECT step_key, node_id, iteration,
           CASE WHEN kind = 'human_gate' THEN ARRAY(
             SELECT json_object_keys(CASE WHEN json_typeof(output -> 'input') = 'object' THEN output -> 'input' ELSE '{}' END)
             UNION SELECT node_id) END AS keys
    FROM steps WHERE run_id = ${runId} AND status = 'success' AND parent_step_key IS NULL
    ORDER BY finished_at, ordinal
  `);
  return rows.map(({ keys, ...step }) => ({ ...step, ...(keys === null ? {} : { keys }) }));
}

/** Which of these steps ended longer ago than `seconds`. */
export async function readOlderSteps(
  db: Db,
  runId: string,
  { stepKeys, seconds }: { stepKeys: readonly string[]; seconds: number },
): Promise<ReadonlySet<string>> {
  const older = await db.anyFirst(statement(z.object({ step_key: z.string() }))`
    SELECT step_key FROM steps
    WHERE run_id = ${runId} AND step_key = ANY (${sql.array([...stepKeys], 'text')})
      AND finished_at <= clock_timestamp() - ${seconds}::float8 * interval '1 s'
  `);
  return new Set(older);
}

const stateRow = z.object({
  run_id: z.string(),
  ended: z.boolean(),
  succeeded: z.boolean(),
  error: z.string().nullable(),
});

/** How the rehearsals of a recheck stand, by their ids. */
export async function readRepeated(
  db: Db,
  runIds: readonly string[],
): Promise<Map<string, { ended: boolean; succeeded: boolean; error: string | null }>> {
  const rows = await db.any(statement(stateRow)`
    SELECT id AS run_id, status IN ('success', 'failed') AS ended, status = 'success' AS succeeded, error
    FROM runs WHERE id = ANY (${sql.array([...runIds], 'text')})
  `);
  return new Map(rows.map(({ run_id, ...state }) => [run_id, state]));
}

/** The longest text of a value in a difference. */
const MAX_SHOWN = 1_000;

const differenceRow = z.object({
  step_key: z.string(),
  tool: z.string(),
  path: storedJson<RecheckDifference['path']>(),
  before: z.string().nullable(),
  now: z.string().nullable(),
  run_id: z.string(),
});

/**
 * The values that differ between the steps of a run and their repetitions. Postgres compares, because outputs can be
 * megabytes.
 */
export async function readDifferences(
  db: Db,
  runId: string,
  repeated: readonly (StartedRead & { run_id: string })[],
): Promise<RecheckDifference[]> {
  const rows = await db.any(statement(differenceRow)`
    SELECT r.step_key, r.tool, p.path, r.run_id, left(v.before::text, ${MAX_SHOWN + 1}) AS before,
           left(v.now::text, ${MAX_SHOWN + 1}) AS now
    FROM json_to_recordset(${JSON.stringify(repeated)}::json)
         AS r (step_key text, node_id text, tool text, run_id text, paths json)
    JOIN steps b ON b.run_id = ${runId} AND b.step_key = r.step_key
    JOIN steps n ON n.run_id = r.run_id AND n.step_key = r.node_id
    CROSS JOIN LATERAL json_array_elements(r.paths) WITH ORDINALITY AS p (path, at)
    CROSS JOIN LATERAL (SELECT ARRAY(
      SELECT e.key FROM json_array_elements_text(p.path) WITH ORDINALITY AS e (key, at) ORDER BY e.at) AS keys) AS k
    CROSS JOIN LATERAL (SELECT b.output #> k.keys AS before, n.output #> k.keys AS now) AS v
    WHERE v.before::jsonb IS DISTINCT FROM v.now::jsonb
    ORDER BY r.step_key, p.at
  `);
  return rows.map(({ before, now, ...row }) => ({
    ...row,
    before: shown(before),
    now: shown(now),
  }));
}

/** A value as it is shown, from its JSON text. */
function shown(text: string | null): RecheckDifference['before'] {
  if (text === null) return null;
  return text.length > MAX_SHOWN ? startOf(text, MAX_SHOWN) : (JSON.parse(text) as Json);
}

/** The start of a long text. */
export const startOf = (text: string, most: number): string => `${beginningOf(text, most)}…`;

/** What a gate with `recheck` shows of it. */
export function recheckOf(
  { recheck: setting }: Pick<GateSettings, 'recheck'>,
  reads: GateReads | null,
  last: StoredRecheck | null,
): { recheck?: GateRecheck; stale?: Stale } {
  if (setting === undefined || setting === false) return {};
  const { after_seconds } = setting === true ? {} : setting;
  const at = last?.finished_at === undefined ? null : storedTime(last.finished_at);
  const differences = last?.differences ?? [];
  return {
    recheck: {
      ...(after_seconds === undefined ? {} : { after_seconds }),
      reads: (reads?.reads ?? []).map(({ step_key, tool, paths }) => ({ step_key, tool, paths })),
      not_repeated: (reads?.not_repeated ?? []).map(({ step_key, kind }) => ({ step_key, kind })),
      at,
    },
    ...(at === null || differences.length === 0
      ? {}
      : { stale: { at, differences, more: last?.more ?? 0 } }),
  };
}
