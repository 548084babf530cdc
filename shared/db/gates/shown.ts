import { z } from 'zod';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { notFound } from '#shared/errors.ts';
import type { Shown, ShownItems } from './decision.ts';
import { decisionFields, decisionRow } from './answers.ts';
import { type GateDecision, withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { entryFor, keysFor, type ShownEffect } from '#shared/graph/consequences/binding.ts';
import { ITEM_DIGEST } from '#shared/graph/consequences/many-items.ts';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { Situation } from '#shared/graph/schedule/scheduler.ts';

/** What the approvers of an open gate see, and the part of the run that it follows from. */
export interface ShownGate extends Shown {
  step_key: string;
  round: number;
  /** What the approvers have sent so far, which is taken into account. */
  input: JsonObject | null;
  situation: Situation;
  targets: GateTargets;
  items: ShownItems | null;
}

/** The custom tools and workflows that a run can call, as they were when it was found what its gates show. */
export interface GateTargets {
  tools: { id: string; revision: number }[];
  /** `current`: the version, unless the graph names one. `name`: the id or name in the graph. */
  workflows: { id: string; name: string; current: number | null }[];
}

const graphRow = z.object({
  workspaceId: z.string(),
  workflowId: z.string(),
  graph: graphSchema,
  laid: storedJson<Record<string, JsonObject> | null>(),
});

/** The graph that a run executes, and what it merges into its state at steps. Throws AppError `not_found`. */
export async function readGraph(db: Db, runId: string): Promise<z.infer<typeof graphRow>> {
  const row = await db.maybeOne(statement(graphRow)`
    SELECT r.workspace_id AS "workspaceId", r.workflow_id AS "workflowId", coalesce(r.graph, v.graph) AS graph, r.laid
    FROM runs r JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${runId}
  `);
  if (row === null) throw notFound('Run');
  return row;
}

const consequencesRow = z.object({ consequences: storedJson<GateConsequences | null>() });

/** What a gate shows, without the input of an approver; null when that is not known. */
export async function readConsequences(
  db: Db,
  { runId, step_key, round }: { runId: string; step_key: string; round: number },
): Promise<GateConsequences | null> {
  return db.oneFirst(statement(consequencesRow)`
    SELECT consequences FROM gates WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int
  `);
}

/** An answer that was given to a gate. */
interface GivenAnswer {
  run_id: string;
  step_key: string;
  round: number;
  answer: keyof GateConsequences;
}

/** Binds what follows a decided gate to what was shown for its answer. */
export async function bindEffects(tx: Tx, given: GivenAnswer): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO gate_effects (run_id, node_id, step_key, gate_key, round, shown, items)
    SELECT g.run_id, e.effect ->> 'node_id', e.effect ->> 'step_key', g.step_key, g.round, e.effect,
           decode(g.items -> ${given.answer} ->> (e.effect ->> 'step_key'), 'hex')
    FROM gates g, json_array_elements(g.consequences -> ${given.answer} -> 'effects') AS e (effect)
    WHERE g.run_id = ${given.run_id} AND g.step_key = ${given.step_key} AND g.round = ${given.round}::int
    ON CONFLICT DO NOTHING
  `);
  await tx.query(statement(z.object({}))`
    UPDATE gates SET items = NULL
    WHERE run_id = ${given.run_id} AND step_key = ${given.step_key} AND round = ${given.round}::int AND items IS NOT NULL
  `);
}

const boundRow = z.object({
  gate_key: z.string(),
  settings: storedJson<GateSettings | null>(),
  round: z.number(),
  shown: storedJson<ShownEffect>(),
  item: z.string().nullable(),
});

/** What a step was shown with, and at which gate. `item`: the digest of its item, if items were not listed. */
interface Bound {
  gateKey: string;
  shown: ShownEffect;
  settings: GateSettings | null;
  item: string | null;
}

/** What a step was last shown with, and at which gate; undefined when no decision showed it. `settings`: of the gate. */
export async function findBound(
  db: Db,
  step: { runId: string; nodeId: string; stepKey: string },
): Promise<Bound | undefined> {
  const item = Number(/\d+$/.exec(step.stepKey)?.[0] ?? 0);
  const rows = await db.any(statement(boundRow)`
    SELECT e.gate_key, e.round, e.shown, g.settings,
           encode(substring(e.items FROM 1 + ${ITEM_DIGEST / 2}::int * (${item}::int - 1) FOR ${ITEM_DIGEST / 2}::int), 'hex') AS item
    FROM gate_effects e
    LEFT JOIN gates g ON g.run_id = e.run_id AND g.step_key = e.gate_key AND g.round = e.round
    WHERE e.run_id = ${step.runId} AND e.node_id = ${step.nodeId} AND e.step_key = ANY (${sql.array(keysFor(step.stepKey), 'text')})
    ORDER BY e.decided_at DESC
  `);
  const found = rows.map(({ gate_key, round, shown, settings, item: of }) => ({
    ...{ gateKey: gate_key, round, shown, settings, item: of, step_key: shown.step_key },
  }));
  const fits = found.filter((entry) => entryFor([entry], step.stepKey) !== undefined);
  const [latest] = fits;
  if (latest === undefined) return undefined;
  const { gateKey, round } = latest;
  return entryFor(
    fits.filter((entry) => entry.gateKey === gateKey && entry.round === round),
    step.stepKey,
  );
}

const shownRow = z.object({
  digest: z.string().nullable(),
  consequences: storedJson<GateConsequences | null>(),
});

/** What a gate shows; undefined when it is not known. */
export async function findShown(
  db: Db,
  gate: { runId: string; step_key: string; round: number },
): Promise<Shown | undefined> {
  const row = await db.maybeOne(statement(shownRow)`
    SELECT digest, consequences FROM gates
    WHERE run_id = ${gate.runId} AND step_key = ${gate.step_key} AND round = ${gate.round}::int
  `);
  const { digest = null, consequences = null } = row ?? {};
  return digest === null || consequences === null ? undefined : { digest, consequences };
}

/** Whether it is what decided gate `o` was last asked. */
const isLastDecision = sql.fragment`
  o.status IN ('approved', 'rejected') AND NOT EXISTS (
    SELECT FROM gates again WHERE again.run_id = o.run_id AND again.step_key = o.step_key AND again.round > o.round)`;

/** Whether a custom tool or workflow that gate `g` shows has changed, or is gone. */
const isRetargeted = sql.fragment`(
  EXISTS (
    SELECT FROM json_to_recordset(g.targets -> 'tools') AS p (id text, revision int)
    LEFT JOIN custom_tools t ON t.id = p.id WHERE t.revision IS DISTINCT FROM p.revision
  ) OR EXISTS (
    SELECT FROM json_to_recordset(g.targets -> 'workflows') AS p (id text, name text, current int)
    LEFT JOIN workflows w ON w.id = p.id AND p.name IN (w.id, w.name)
    WHERE w.id IS NULL OR w.version <> p.current
  ))`;

/** Whether another gate was decided, or a tool changed, since it was found what open gate `g` shows. */
export const isOutdated = sql.fragment`(
  g.status = 'open' AND g.situation IS NOT NULL AND (g.kind = 'human_gate' AND ${isRetargeted} OR EXISTS (
    SELECT FROM gates o WHERE o.run_id = g.run_id AND o.decided_at > coalesce(g.shown_at, '-infinity') AND ${isLastDecision})))`;

/**
 * The decisions of a run that what an open gate shows may not contain, oldest first: the last one about each gate that is
 * not open again, and about calls since it was found.
 */
export async function readLastDecisions(
  db: Db,
  { runId, step_key, round }: { runId: string; step_key: string; round: number },
): Promise<GateDecision[]> {
  const rows = await db.any(statement(decisionRow)`
    SELECT ${decisionFields} FROM gates o
    WHERE o.run_id = ${runId} AND ${isLastDecision} AND (o.kind = 'human_gate' OR o.decided_at > coalesce(
      (SELECT g.shown_at FROM gates g WHERE g.run_id = ${runId} AND g.step_key = ${step_key} AND g.round = ${round}::int),
      '-infinity'))
    ORDER BY o.decided_at, o.step_key
  `);
  return rows.map((row) => withoutNulls(row) as GateDecision);
}

const inputRow = z.object({
  step_key: z.string(),
  round: z.number(),
  input: storedJson<JsonObject>(),
});

/** What the approvers of the open gates of a run have sent so far. */
export const readInputs = (db: Db, runId: string): Promise<readonly z.infer<typeof inputRow>[]> =>
  db.any(statement(inputRow)`
    SELECT step_key, round, input FROM gates WHERE run_id = ${runId} AND status = 'open' AND input IS NOT NULL
  `);

/**
 * Stores what an open gate shows after decisions about others, unless there are more by now. Without `shown`, it is not
 * known.
 */
export async function showAgain(
  db: Pool,
  gate: { runId: string; step_key: string; round: number },
  { shown, decided }: { shown: ShownGate | undefined; decided: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(statement(z.object({}))`SELECT FROM runs WHERE id = ${gate.runId} FOR UPDATE`);
    if ((await readLastDecisions(tx, gate)).length !== decided) return;
    if (shown !== undefined) return showGates(tx, gate.runId, [shown]);
    await tx.query(statement(z.object({}))`
      UPDATE gates SET consequences = NULL, situation = NULL, digest = CASE WHEN kind = 'tool_call' THEN digest END
      WHERE run_id = ${gate.runId} AND step_key = ${gate.step_key} AND round = ${gate.round}::int AND status = 'open'
    `);
  });
}

/** Stores what open gates show. Throws Error when an approver has sent an input that it does not take into account. */
export async function showGates(tx: Tx, runId: string, shown: readonly ShownGate[]): Promise<void> {
  if (shown.length === 0) return;
  for (const { step_key, round, input } of await readInputs(tx, runId)) {
    const known = shown.find((gate) => gate.step_key === step_key && gate.round === round);
    if (known === undefined || canonicalJson(known.input) === canonicalJson(input)) continue;
    throw new Error(`an approval of ${step_key} came meanwhile`);
  }
  await tx.query(statement(z.object({}))`
    WITH s AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(shown)}::json)
                    AS s (step_key text, round int, consequences json, digest text, situation json, targets json, items json)
    )
    UPDATE gates g SET consequences = s.consequences, situation = s.situation, targets = s.targets, items = s.items,
      -- The situation has the gates of the list as open ones.
      shown_at = CASE WHEN NOT EXISTS (
        SELECT FROM s AS other JOIN gates o ON o.step_key = other.step_key AND o.round = other.round
        WHERE o.run_id = ${runId} AND o.status <> 'open') THEN clock_timestamp() END,
      -- The digest of a call covers the call.
      digest = CASE WHEN g.kind = 'human_gate' THEN s.digest ELSE g.digest END
    FROM s WHERE g.run_id = ${runId} AND g.step_key = s.step_key AND g.round = s.round AND g.status = 'open'
  `);
}
