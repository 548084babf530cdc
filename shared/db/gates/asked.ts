import { z } from 'zod';
import {
  type decidedByKinds,
  type Gate,
  gateKinds,
  gateStatuses,
  type GateVote,
} from '#shared/contract/gates/gate.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { GateProgress, GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { JsonObject } from '#shared/json.ts';
import { storedTime } from '#shared/time.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { recheckOf, type StoredRecheck } from './rechecks.ts';
import type { GateReads } from '#shared/graph/gates/repeated-reads.ts';
import { assigneeOf, decidedByKind, isDecidable, startersOf, titleOf } from './gate-records.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** The maximum number of earlier openings in one response. */
const MAX_EARLIER = 10;

const askedColumns = {
  step_key: z.string(),
  round: z.number(),
  iteration: z.array(z.number()),
  title: z.string(),
  prompt: z.string(),
  arguments: storedJson<JsonObject | null>(),
};

const gateRow = z.object({
  ...askedColumns,
  decision: storedJson<StoredDecision | null>(),
  kind: z.enum(gateKinds),
  node_id: z.string(),
  label: z.string(),
  status: z.enum(gateStatuses),
  since: z.string(),
  /** Whether anyone can decide it now. */
  decidable: z.boolean(),
  settings: storedJson<GateSettings | null>(),
  decisions: storedJson<GateVote[] | null>(),
  starters: z.array(z.string()),
  tool: z.string().nullable(),
  consequences: storedJson<GateConsequences | null>(),
  reads: storedJson<GateReads | null>(),
  recheck: storedJson<StoredRecheck | null>(),
  digest: z.string().nullable(),
  schema_digest: z.string().nullable(),
  tool_digest: z.string().nullable(),
  graph: storedJson<Graph>(),
  assignee: storedJson<Gate['assignee']>(),
  decider: storedJson<Gate['decider']>(),
  decided_arguments: storedJson<JsonObject | null>(),
});

const earlierRow = z.object({
  ...askedColumns,
  decision: storedJson<StoredDecision>(),
  input: storedJson<JsonObject | null>(),
  decided_arguments: storedJson<JsonObject | null>(),
});

export interface StoredDecision {
  approved: boolean;
  by: string | null;
  by_kind: (typeof decidedByKinds)[number];
  at: string;
  reason: string | null;
  timed_out: 'approve' | 'reject' | 'fail' | null;
  by_link: true | null;
  by_slack: true | null;
}

export interface AskedGate extends Pick<
  Gate,
  | 'run_id'
  | 'node_id'
  | 'kind'
  | 'label'
  | 'step_key'
  | 'round'
  | 'iteration'
  | 'title'
  | 'prompt'
  | 'arguments'
  | 'status'
  | 'since'
  | 'decision'
  | 'assignee'
  | 'decider'
  | 'decided_arguments'
  | 'consequences'
  | 'digest'
> {
  decidable: boolean;
  rechecked: Pick<Gate, 'recheck' | 'stale'>;
  /** `since` with microseconds. */
  openedAt: string;
  settings: GateSettings;
  progress: GateProgress & { decisions: readonly GateVote[] };
  call: { tool: string; schemaDigest: string; toolDigest: string | null } | null;
  /** The graph of the version, or of the draft, that the run executes. */
  graph: Graph;
}

type Scope = { workspaceId: string; runId: string };

/** The decision at a gate `g`; null while it is open or if its run ended first. */
export const decisionRecord = sql.fragment`
  CASE WHEN g.status IN ('approved', 'rejected') THEN json_build_object(
    'approved', g.status = 'approved', 'by', g.decided_by_name, 'by_kind', ${decidedByKind}, 'at', g.decided_at, 'reason', g.reason,
    'timed_out', g.timed_out, 'by_link', CASE WHEN g.decided_by_link THEN true END,
    'by_slack', CASE WHEN g.decided_by_slack THEN true END) END`;

/** The member who decided a gate `g`. */
export const deciderOf = sql.fragment`
  CASE WHEN g.decided_by IS NOT NULL AND g.status IN ('approved', 'rejected')
    THEN json_build_object('id', g.decided_by, 'name', coalesce(g.decided_by_name, '')) END`;

/** The last round of a gate; undefined when the workspace has no such run, or the step is not a gate. */
export async function findGate(
  db: Db,
  { workspaceId, runId, stepKey }: Scope & { stepKey: string },
): Promise<AskedGate | undefined> {
  const row = await db.maybeOne(statement(gateRow)`
    SELECT g.step_key, g.round, s.iteration, ${titleOf} AS title, g.prompt, g.arguments, ${decisionRecord} AS decision, g.kind, g.node_id,
           g.label, g.status, g.opened_at::text AS since, g.tool, g.schema_digest, g.tool_digest, g.digest, g.consequences,
           g.reads, g.recheck,
           ${isDecidable} AS decidable, g.settings, g.decisions, ${startersOf} AS starters,
           coalesce(r.graph, v.graph) AS graph, ${assigneeOf} AS assignee,
           ${deciderOf} AS decider, g.decided_arguments
    FROM runs r JOIN gates g ON g.run_id = r.id
    JOIN steps s ON s.run_id = g.run_id AND s.step_key = g.step_key
    JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${runId} AND r.workspace_id = ${workspaceId} AND g.step_key = ${stepKey}
    ORDER BY g.round DESC LIMIT 1
  `);
  if (row === null) return undefined;
  const { settings, decisions, starters, tool, arguments: args, reads, recheck, ...rest } = row;
  const { schema_digest, tool_digest: toolDigest, decided_arguments: decided, ...gate } = rest;
  return {
    ...gate,
    run_id: runId,
    since: storedTime(gate.since),
    decision: gate.decision === null ? null : toDecision(gate.decision),
    ...(args === null ? {} : { arguments: args }),
    ...(decided === null ? {} : { decided_arguments: decided }),
    openedAt: gate.since,
    rechecked: recheckOf(settings ?? {}, reads, gate.status === 'open' ? recheck : null),
    settings: settings ?? {},
    progress: { starters, decisions: decisions ?? [] },
    call:
      tool === null || schema_digest === null
        ? null
        : { tool, schemaDigest: schema_digest, toolDigest },
  };
}

/**
 * When the node of a gate opened before, for the same items of its maps, newest first. `maps`: the positions of the
 * maps in its `iteration`, from 1.
 */
export async function readEarlierOpenings(
  db: Db,
  { workspaceId, runId, gate, maps }: Scope & { gate: AskedGate; maps: readonly number[] },
): Promise<Gate['earlier']> {
  const rows = await db.any(statement(earlierRow)`
    SELECT g.step_key, g.round, s.iteration, ${titleOf} AS title, g.prompt, g.arguments, ${decisionRecord} AS decision, g.input,
           g.decided_arguments
    FROM runs r JOIN gates g ON g.run_id = r.id JOIN steps s ON s.run_id = g.run_id AND s.step_key = g.step_key
    WHERE r.id = ${runId} AND r.workspace_id = ${workspaceId} AND g.node_id = ${gate.node_id} AND g.kind = ${gate.kind}
      AND g.tool IS NOT DISTINCT FROM ${gate.call?.tool ?? null} AND g.status IN ('approved', 'rejected')
      AND g.decided_at <= ${gate.openedAt}::timestamptz AND (g.step_key, g.round) <> (${gate.step_key}, ${gate.round}::int)
      AND NOT EXISTS (
        SELECT FROM unnest(${sql.array([...maps], 'int4')}) AS map (at)
        WHERE s.iteration[map.at] IS DISTINCT FROM (${sql.array(gate.iteration, 'int4')})[map.at])
    ORDER BY g.decided_at DESC, g.step_key, g.round DESC LIMIT ${MAX_EARLIER}
  `);
  return rows.map(({ arguments: args, input, decided_arguments, decision, ...asked }) => ({
    ...asked,
    ...(args === null ? {} : { arguments: args }),
    ...(input === null ? {} : { input }),
    ...(decided_arguments === null ? {} : { decided_arguments }),
    decision: toDecision(decision),
  }));
}

export const toDecision = ({
  timed_out,
  by_link: byLink,
  by_slack: bySlack,
  at,
  ...decision
}: StoredDecision): Gate['earlier'][0]['decision'] => ({
  ...decision,
  at: storedTime(at),
  ...(timed_out === null ? {} : { timed_out }),
  ...(byLink === true ? { by_link: true } : {}),
  ...(bySlack === true ? { by_slack: true } : {}),
});
