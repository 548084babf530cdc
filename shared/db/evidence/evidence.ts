import { z } from 'zod';
import type { LineOf } from '#shared/contract/evidence/evidence.ts';
import {
  decidedByKinds,
  gateKinds,
  gateStatuses,
  type GateVote,
} from '#shared/contract/gates/gate.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { RunSummary } from '#shared/contract/runs/run.ts';
import { timeoutActions } from '#shared/contract/workflows/approvers.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { storedTime } from '#shared/time.ts';
import { decidedByKind } from '#shared/db/gates/gate-records.ts';
import { statement, type Tx } from '#shared/db/pool.ts';
import { readCaught, readEndOrder } from '#shared/db/runs/restart.ts';
import { summaryColumns, summaryRow, toSummary } from '#shared/db/runs/summary.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** What the evidence of a run consists of, besides its steps and the audit log, as of the snapshot of a transaction. */

export interface EvidenceScope {
  workspaceId: string;
  runId: string;
}

/** Payloads are JSON texts. */
export interface EvidenceHead {
  run: RunSummary;
  ended: boolean;
  graph: JsonObject;
  input: string;
  state: string | null;
  output: string | null;
  laid: string | null;
}

const headRow = z.object({
  ...summaryRow.shape,
  graph: storedJson<JsonObject>(),
  input: z.string(),
  state: z.string().nullable(),
  output: z.string().nullable(),
  laid: z.string().nullable(),
});

/** Throws AppError `not_found`. */
export async function readEvidenceHead(
  tx: Tx,
  { workspaceId, runId }: EvidenceScope,
): Promise<EvidenceHead> {
  const row = await tx.maybeOne(statement(headRow)`
    SELECT ${summaryColumns}, coalesce(r.graph, v.graph) AS graph, r.input::text, r.state::text, r.output::text, r.laid::text
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${runId} AND r.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Run');
  const { graph, input, state, output, laid, ...summary } = row;
  const run = toSummary(summary);
  const ended = run.status === 'success' || run.status === 'failed';
  return { run, ended, graph, input, state, output, laid };
}

export const readEvidenceResults = async (tx: Tx, runId: string): Promise<LineOf<'results'>> => ({
  kind: 'results',
  order: await readEndOrder(tx, runId),
  caught: await readCaught(tx, runId),
});

const PAGE = 50;

const gateRow = z.object({
  title: z.string().nullable(),
  step_key: z.string(),
  round: z.number(),
  node_id: z.string(),
  gate_kind: z.enum(gateKinds),
  prompt: z.string(),
  status: z.enum(gateStatuses),
  opened_at: z.string(),
  decided_at: z.string().nullable(),
  by_id: z.string().nullable(),
  by: z.string().nullable(),
  by_kind: z.enum(decidedByKinds).nullable(),
  by_link: z.boolean(),
  by_slack: z.boolean(),
  reason: z.string().nullable(),
  input: storedJson<JsonObject | null>(),
  timed_out: z.enum(timeoutActions).nullable(),
  decisions: storedJson<GateVote[] | null>(),
  reused_from: z.string().nullable(),
  consequences: storedJson<GateConsequences | null>(),
  tool_call: storedJson<LineOf<'gate'>['tool_call']>(),
  digest: z.string().nullable(),
  decided_digest: z.string().nullable(),
});

/** All rounds of a run's gates, page by page. */
export async function* readEvidenceGates(
  tx: Tx,
  runId: string,
): AsyncGenerator<LineOf<'gate'>[], void> {
  let after = { step_key: '', round: 0 };
  for (;;) {
    const rows = await tx.any(statement(gateRow)`
      SELECT g.step_key, g.round, g.node_id, g.kind AS gate_kind, g.prompt, g.title, g.status, g.opened_at, g.decided_at,
             g.decided_by AS by_id, g.decided_by_name AS by,
             CASE WHEN g.decided_at IS NOT NULL THEN ${decidedByKind} END AS by_kind, g.reason, g.input, g.timed_out,
             coalesce(g.decided_by_link, false) AS by_link, coalesce(g.decided_by_slack, false) AS by_slack,
             g.decisions, g.reused_from, g.consequences, g.digest, g.decided_digest,
             CASE WHEN g.kind = 'tool_call' THEN json_build_object('tool', g.tool, 'schema_digest', g.schema_digest,
               'tool_digest', g.tool_digest, 'arguments', g.arguments, 'decided_arguments', g.decided_arguments) END AS tool_call
      FROM gates g
      WHERE g.run_id = ${runId} AND (g.step_key, g.round) > (${after.step_key}, ${after.round}::int)
      ORDER BY g.step_key, g.round LIMIT ${PAGE}
    `);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
    yield rows.map(({ by_link: byLink, by_slack: bySlack, ...row }) => ({
      ...row,
      ...(byLink ? { by_link: true } : {}),
      ...(bySlack ? { by_slack: true } : {}),
      kind: 'gate',
      opened_at: storedTime(row.opened_at),
      decided_at: row.decided_at === null ? null : storedTime(row.decided_at),
    }));
  }
}

const verdictRow = z.object({
  seq: z.number(),
  id: z.string(),
  node_id: z.string().nullable(),
  verdict: storedJson<PolicyVerdict>(),
  revision: z.number().nullable(),
  created_at: z.string(),
});

/** What the policies have decided about a run, oldest first, page by page. */
export async function* readEvidenceVerdicts(
  tx: Tx,
  { workspaceId, runId }: EvidenceScope,
): AsyncGenerator<LineOf<'verdict'>[], void> {
  let after = 0;
  for (;;) {
    const rows = await tx.any(statement(verdictRow)`
      SELECT seq, id, node_id, revision, created_at, json_build_object(
        'type', type, 'policy', policy, 'decision', decision, 'reason', reason, 'evidence', evidence) AS verdict
      FROM governance_events WHERE workspace_id = ${workspaceId} AND run_id = ${runId} AND seq > ${after}
      ORDER BY seq LIMIT ${PAGE}
    `);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    yield rows.map(({ seq: _seq, ...row }) => ({
      ...row,
      kind: 'verdict',
      created_at: storedTime(row.created_at),
    }));
  }
}
