import { z } from 'zod';
import type { AuditVerification } from '#shared/contract/audit/audit.ts';
import { jsonObject } from '#shared/contract/common.ts';
import { callDigest } from '#shared/crypto/call-digest.ts';
import { type JsonObject, toStorable } from '#shared/json.ts';
import { isRecordOf } from '#shared/evidence/recorded.ts';
import { decidedByKind } from '#shared/db/gates/gate-records.ts';
import { verifyGateDecisions } from './gate-decisions.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

type ToolCalls = AuditVerification['tool_calls'];
type Problem = ToolCalls['problems'][number];

/**
 * The maximum number of problems that one check reports. It reads each page to its end, so it may find a few more,
 * which are left out.
 */
const MAX_PROBLEMS = 100;
const ENTRY_PAGE = 1_000;
const RUN_PAGE = 500;
const STEP_PAGE = 100;

/**
 * Compares the decisions about tool calls with the calls that were made, in both directions: each audit entry with its
 * gate, and each call with its approval; and the decisions at other gates with what these showed. A call that a fork reuses is compared in the run that made it. Runs and audit
 * entries that retention has removed are not compared. The caller's transaction has one snapshot; memory does not grow
 * with the workspace.
 */
export async function verifyToolCalls(tx: Tx, workspaceId: string): Promise<ToolCalls> {
  const found: ToolCalls = { decisions: 0, made: 0, problems: [] };
  for (const action of ['approve', 'reject'] as const) {
    await walkDecisions(tx, { workspaceId, action }, found);
  }
  await verifyGateDecisions(tx, workspaceId, { found, most: MAX_PROBLEMS });
  await walkCalls(tx, workspaceId, found);
  return { ...found, problems: found.problems.slice(0, MAX_PROBLEMS) };
}

const decisionRow = z.object({
  seq: z.number(),
  audit_id: z.string(),
  /** Null for decisions about other gates. */
  digest: z.string().nullable(),
  decided_digest: z.string().nullable(),
  run_id: z.string().nullable(),
  step_key: z.string().nullable(),
  gate: z
    .object({
      status: z.string(),
      tool: z.string(),
      schema_digest: z.string(),
      tool_digest: z.string().nullable(),
      digest: z.string(),
      decided_digest: z.string().nullable(),
      arguments: jsonObject,
      decided_arguments: jsonObject.nullable(),
    })
    .nullable(),
});

type DecisionRow = z.infer<typeof decisionRow>;

async function walkDecisions(
  tx: Tx,
  { workspaceId, action }: { workspaceId: string; action: 'approve' | 'reject' },
  found: ToolCalls,
): Promise<void> {
  let after = 0;
  while (found.problems.length < MAX_PROBLEMS) {
    const page = await tx.any(statement(decisionRow)`
      SELECT a.seq, a.id AS audit_id, CASE WHEN a.details ->> 'tool' IS NOT NULL THEN a.details ->> 'digest' END AS digest,
             a.details ->> 'decided_digest' AS decided_digest,
             r.id AS run_id, a.details ->> 'step_key' AS step_key, row_to_json(g) AS gate
      FROM (SELECT seq, id, target_id, details FROM audit_log
            WHERE workspace_id = ${workspaceId} AND action = ${action} AND seq > ${after}
            ORDER BY seq LIMIT ${ENTRY_PAGE}) a
      LEFT JOIN runs r ON a.details ->> 'tool' IS NOT NULL AND r.id = a.target_id AND r.workspace_id = ${workspaceId}
      LEFT JOIN LATERAL (
        SELECT status, tool, schema_digest, tool_digest, digest, decided_digest, arguments, decided_arguments FROM gates
        WHERE run_id = r.id AND step_key = a.details ->> 'step_key' AND kind = 'tool_call'
        ORDER BY digest = a.details ->> 'digest' DESC, round DESC LIMIT 1) g ON true
      ORDER BY a.seq
    `);
    for (const row of page) {
      if (row.digest === null || row.run_id === null) continue;
      found.decisions += 1;
      const problem = decisionProblem(action, row);
      if (problem === undefined) continue;
      const { run_id, step_key, audit_id } = row;
      found.problems.push({ run_id, step_key: step_key ?? '', audit_id, problem });
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

function decisionProblem(
  action: 'approve' | 'reject',
  { gate, run_id, step_key, digest, decided_digest }: DecisionRow,
): string | undefined {
  if (gate === null) return 'the gate of this decision was removed';
  if (gate.digest !== digest) return 'the digest of the decision is not that of its gate';
  const { tool, schema_digest, tool_digest } = gate;
  const digestOf = (args: JsonObject): string =>
    callDigest({
      run_id: run_id ?? '',
      step_key: step_key ?? '',
      tool,
      schema_digest,
      tool_digest,
      arguments: args,
    });
  if (digestOf(gate.arguments) !== digest) return 'the digest is not that of the shown call';
  if (gate.status !== (action === 'approve' ? 'approved' : 'rejected')) {
    return `the gate is ${gate.status}, which is not what was decided`;
  }
  if (action === 'reject') return undefined;
  const decided = decided_digest ?? digest;
  if (gate.decided_digest !== decided) return 'the digest of the decision is not that of its gate';
  if (digestOf(gate.decided_arguments ?? gate.arguments) !== decided) {
    return 'the digest is not that of the call as it was changed';
  }
  return undefined;
}

const workflowRow = z.object({ id: z.string() });
const runRow = z.object({ id: z.string(), created_at: z.string() });

/** The calls of all runs whose workflow has, or had, an agent with tools. */
async function walkCalls(tx: Tx, workspaceId: string, found: ToolCalls): Promise<void> {
  const workflows = await tx.any(statement(workflowRow)`
    SELECT w.id FROM workflows w WHERE w.workspace_id = ${workspaceId} AND (EXISTS (
      SELECT FROM workflow_versions v CROSS JOIN LATERAL json_array_elements(v.graph -> 'nodes') AS node
      WHERE v.workflow_id = w.id AND node ->> 'kind' = 'agent' AND node -> 'tools' IS NOT NULL)
      OR EXISTS (SELECT FROM runs r WHERE r.workflow_id = w.id AND r.graph IS NOT NULL))
  `);
  for (const { id } of workflows) await walkRuns(tx, { workspaceId, workflowId: id }, found);
}

async function walkRuns(
  tx: Tx,
  { workspaceId, workflowId }: { workspaceId: string; workflowId: string },
  found: ToolCalls,
): Promise<void> {
  let before: z.infer<typeof runRow> = { id: '', created_at: 'infinity' };
  while (found.problems.length < MAX_PROBLEMS) {
    const page = await tx.any(statement(runRow)`
      SELECT id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at FROM runs
      WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId}
        AND (runs.created_at, runs.id) < (${before.created_at}::timestamptz, ${before.id})
      ORDER BY runs.created_at DESC, runs.id DESC LIMIT ${RUN_PAGE}
    `);
    const last = page.at(-1);
    if (last === undefined) return;
    before = last;
    const runIds = page.map((run) => run.id);
    await walkSteps(tx, { workspaceId, runIds }, found);
  }
}

const callRow = z.object({
  run_id: z.string(),
  step_key: z.string(),
  /** Whether the call required approval or was approved. */
  decided: z.boolean(),
  /** Null when the turn has no such call. */
  tool: z.string().nullable(),
  schema_digest: z.string().nullable(),
  tool_digest: z.string().nullable(),
  requested: jsonObject.nullable(),
  /** The redacted arguments that were sent. */
  input: storedJson(),
  refused: z.boolean(),
  /** Null without an approval. */
  decided_digest: z.string().nullable(),
  decided_arguments: jsonObject.nullable(),
  /** Who made the decision. */
  by_kind: z.string().nullable(),
  /** Whether the approval is in the log, or was removed from it by retention. */
  audited: z.boolean(),
});

/** The calls that were made. They all fit into a page, so that it ends where the next one begins. */
async function walkSteps(
  tx: Tx,
  { workspaceId, runIds }: { workspaceId: string; runIds: readonly string[] },
  found: ToolCalls,
): Promise<void> {
  let after = { run_id: '', step_key: '' };
  for (;;) {
    const page = await tx.any(statement(callRow)`
      SELECT c.run_id, c.step_key, coalesce(call ->> 'question' IS NOT NULL OR g.decided_at IS NOT NULL, false) AS decided,
             call ->> 'tool' AS tool, call ->> 'schema_digest' AS schema_digest,
             call ->> 'tool_digest' AS tool_digest, call -> 'arguments' AS requested, c.input,
             EXISTS (SELECT FROM json_array_elements(c.policy) AS v
                     WHERE v ->> 'decision' IN ('denied', 'blocked')) AS refused,
             g.decided_digest, g.decided_arguments, g.by_kind, EXISTS (
               SELECT FROM audit_log a WHERE a.workspace_id = ${workspaceId} AND a.target_id = c.run_id AND a.action = 'approve'
                 AND a.details ->> 'step_key' = c.step_key
                 AND coalesce(a.details ->> 'decided_digest', a.details ->> 'digest') = g.decided_digest)
               OR coalesce(g.decided_at < (
               SELECT max(before) FROM audit_sweeps WHERE workspace_id = ${workspaceId}), false) AS audited
      FROM (SELECT run_id, step_key, parent_step_key, turn, call_index, input, policy FROM steps
            WHERE run_id = ANY(${sql.array([...runIds], 'text')})
              AND (run_id, step_key) > (${after.run_id}, ${after.step_key})
              AND call_index IS NOT NULL AND attempts > 0 AND reused_from IS NULL AND status <> 'unrecorded'
            ORDER BY run_id, step_key LIMIT ${STEP_PAGE}) AS c
      LEFT JOIN LATERAL (
        SELECT value AS call FROM steps t CROSS JOIN LATERAL json_array_elements(t.output -> 'calls')
        WHERE t.run_id = c.run_id AND t.step_key = c.parent_step_key || '/' || c.turn
          AND (value ->> 'index')::int = c.call_index) AS requested ON true
      LEFT JOIN LATERAL (
        SELECT g.decided_digest, g.decided_arguments, g.decided_at, ${decidedByKind} AS by_kind FROM gates g
        WHERE g.run_id = c.run_id AND g.step_key = c.step_key AND g.kind = 'tool_call' AND g.status = 'approved'
        ORDER BY g.round DESC LIMIT 1) AS g ON true
      ORDER BY c.run_id, c.step_key
    `);
    for (const row of page) {
      if (!row.decided) continue;
      found.made += 1;
      const problem = callProblem(row);
      if (problem !== undefined) found.problems.push(named(row, problem));
    }
    const last = page.at(-1);
    if (last === undefined || found.problems.length >= MAX_PROBLEMS) return;
    after = last;
  }
}

const named = ({ run_id, step_key }: Pick<Problem, 'run_id' | 'step_key'>, problem: string) => ({
  run_id,
  step_key,
  problem,
});

function callProblem(row: z.infer<typeof callRow>): string | undefined {
  const { run_id, step_key, tool, schema_digest, tool_digest } = row;
  if (row.decided_digest === null) return 'the call was made without an approval';
  if (row.by_kind === 'request') {
    return 'the call was made under the decision of a request, which releases nothing';
  }
  const args = row.decided_arguments ?? row.requested ?? {};
  const call = {
    run_id,
    step_key,
    tool: tool ?? '',
    tool_digest,
    schema_digest: schema_digest ?? '',
    arguments: args,
  };
  if (callDigest(call) !== row.decided_digest) {
    return 'the call was made without an approval of its arguments';
  }
  if (!row.refused && !isRecordOf(row.input, toStorable(args))) {
    return 'the recorded arguments are not those that were approved';
  }
  return row.audited ? undefined : 'the approval is not in the audit log';
}
