import type { GateVote } from '#shared/contract/gates/gate.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import type { GateChoice } from '#shared/graph/gates/gate-decision.ts';
import {
  decidersOf,
  type GateProgress,
  type GateSettings,
  type MemberStanding,
  needsMember,
} from '#shared/graph/gates/gate-settings.ts';
import { storedTime } from '#shared/time.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import { type Db, type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import type { GateReads } from '#shared/graph/gates/repeated-reads.ts';
import { recheckOf, type StoredRecheck } from './rechecks.ts';

/** The name of the decider when a rehearsal's request decides a gate. */
export const BY_REQUEST = 'the request';

/** The members named by a gate `g` of a run `r`. A removed member has no name. */
const approverNames = sql.fragment`
  SELECT json_agg(json_build_object('id', named.id, 'name', m.name) ORDER BY named.at)
  FROM json_array_elements_text(g.settings #> '{approvers,members}') WITH ORDINALITY AS named (id, at)
  LEFT JOIN members m ON m.id = named.id AND m.workspace_id = r.workspace_id`;

/**
 * The members who count as starters of a run `r`, as an array. They are stored with the run, since its schedule and the
 * runs it started from may be deleted. Earlier versions stored one of them, or none.
 */
export const startersOf = sql.fragment`
  coalesce(r.starters, array_remove(ARRAY[
    coalesce(r.starter_id, r.created_by, (SELECT created_by FROM schedules WHERE id = r.schedule_id))], NULL))`;

/**
 * Who made the decision at a gate `g`: `member` for a person, `deadline`, or `request` for the request of a rehearsal.
 * Earlier versions did not store it.
 */
export const decidedByKind = sql.fragment`
  coalesce(g.decided_by_kind, CASE WHEN g.timed_out IS NOT NULL THEN 'deadline'
    WHEN g.decided_by IS NULL AND g.decided_by_name = ${BY_REQUEST} THEN 'request' ELSE 'member' END)`;

/** Whether a gate `g` of a run `r` can be decided now. */
export const isDecidable = sql.fragment`(
  g.status = 'open' AND r.status IN ('running', 'paused') AND r.rehearsal IS NULL
  AND coalesce(g.expires_at > clock_timestamp(), true))`;

/** Whether a gate `g` matches the choice. Without a choice, every gate does. */
export const isChosen = ({ nodeId, stepKey }: GateChoice): FragmentSqlToken => sql.fragment`(
  (${nodeId ?? null}::text IS NULL OR g.node_id = ${nodeId ?? null})
  AND (${stepKey ?? null}::text IS NULL OR g.step_key = ${stepKey ?? null}))`;

/** The rules of a gate `g` of a run `r`, as a RuleRow. */
const gateRules = sql.fragment`
  CASE WHEN g.settings IS NOT NULL THEN json_build_object(
    'settings', g.settings, 'expires_at', g.expires_at, 'decisions', coalesce(g.decisions, '[]'), 'starters', ${startersOf},
    'members', CASE WHEN g.settings #> '{approvers,members}' IS NOT NULL THEN (${approverNames}) END) END`;

/** The assignee of a gate `g` of a run `r`. A removed member does not count. */
export const assigneeOf = sql.fragment`(
  SELECT json_build_object('id', m.id, 'name', m.name) FROM members m
  WHERE m.id = g.assignee_id AND m.workspace_id = r.workspace_id)`;

/** What is decided at a gate `g`, in one line. */
export const titleOf = sql.fragment`coalesce(g.title, g.label)`;

/** An open gate `g` of a run `r`, as a GateRow. */
export const gateRecord = sql.fragment`json_build_object(
  'kind', g.kind, 'node_id', g.node_id, 'step_key', g.step_key, 'label', g.label,
  'title', ${titleOf}, 'prompt', g.prompt,
  'since', g.opened_at, 'rules', ${gateRules}, 'assignee', ${assigneeOf},
  'tool_call', CASE WHEN g.kind = 'tool_call' THEN json_build_object('tool', g.tool, 'turn', g.turn,
    'arguments', g.arguments, 'schema_digest', g.schema_digest, 'tool_digest', g.tool_digest,
    'digest', g.digest) END,
  'rechecked', CASE WHEN g.settings -> 'recheck' IS NOT NULL THEN json_build_object(
    'reads', g.reads, 'recheck', g.recheck) END)`;

interface RuleRow {
  settings: GateSettings;
  expires_at: string | null;
  decisions: GateVote[];
  starters: string[];
  members: { id: string; name: string | null }[] | null;
}

export interface GateRow extends Pick<
  PendingGate,
  'kind' | 'node_id' | 'step_key' | 'label' | 'title' | 'prompt' | 'since'
> {
  rules: RuleRow | null;
  tool_call: PendingGate['tool_call'] | null;
  assignee: PendingGate['assignee'] | null;
  rechecked: { reads: GateReads | null; recheck: StoredRecheck | null } | null;
}

/** Open gates as callers see them, in the same order. Reads members only if a gate has rules about them. */
export async function toGates(
  db: Db,
  workspaceId: string,
  rows: readonly GateRow[],
): Promise<PendingGate[]> {
  const asks = rows.some(({ rules }) => rules !== null && needsMember(rules.settings));
  const members = asks ? await readStandings(db, workspaceId) : [];
  return rows.map((row) => toGate(row, members));
}

const toGate = (
  { tool_call: call, rules, assignee, rechecked, ...gate }: GateRow,
  members: readonly MemberStanding[],
): PendingGate => ({
  ...gate,
  since: storedTime(gate.since),
  ...(rules === null ? {} : toRules(rules, members)),
  ...(rules === null || rechecked == null
    ? {}
    : recheckOf(rules.settings, rechecked.reads, rechecked.recheck)),
  ...(assignee == null ? {} : { assignee }),
  ...(call == null ? {} : { tool_call: call }),
});

function toRules(
  { settings, expires_at, decisions, members: named, starters }: RuleRow,
  members: readonly MemberStanding[],
): Partial<PendingGate> {
  const { input_schema, approvers, required, not_the_starter, signed_in, on_timeout, act_as } =
    settings;
  return {
    ...(input_schema === undefined ? {} : { input_schema }),
    ...(approvers === undefined
      ? {}
      : {
          approvers: {
            ...(approvers.roles === undefined ? {} : { roles: approvers.roles }),
            ...(named === null ? {} : { members: named }),
          },
        }),
    ...(required === undefined ? {} : { required }),
    ...(not_the_starter === undefined ? {} : { not_the_starter }),
    ...(signed_in === undefined ? {} : { signed_in }),
    ...(act_as === undefined ? {} : { act_as }),
    ...(needsMember(settings) ? toDeciders(settings, members, { starters, decisions }) : {}),
    ...(on_timeout === undefined ? {} : { on_timeout }),
    ...(expires_at === null ? {} : { expires_at: storedTime(expires_at) }),
    decisions,
  };
}

function toDeciders(
  settings: GateSettings,
  members: readonly MemberStanding[],
  progress: GateProgress,
): Pick<PendingGate, 'deciders' | 'admins_stand_in'> {
  const { members: deciders, adminsStandIn } = decidersOf(settings, members, progress);
  return { deciders: deciders.length, ...(adminsStandIn ? { admins_stand_in: true } : {}) };
}
