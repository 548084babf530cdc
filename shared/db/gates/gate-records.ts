import type { GateVote } from '../../contract/gate.ts';
import type { PendingGate } from '../../contract/run.ts';
import type { GateSettings } from '../../graph/gate-settings.ts';
import { storedTime } from '../../time.ts';
import { sql } from '../pool.ts';

/** The named members of a gate `g`. A member who was removed has no name. */
const approverNames = sql.fragment`
  SELECT json_agg(json_build_object('id', named.id, 'name', m.name) ORDER BY named.at)
  FROM json_array_elements_text(g.settings #> '{approvers,members}') WITH ORDINALITY AS named (id, at)
  JOIN runs of_gate ON of_gate.id = g.run_id
  LEFT JOIN members m ON m.id = named.id AND m.workspace_id = of_gate.workspace_id`;

/** The rules of a gate `g`: a RuleRow. */
const gateRules = sql.fragment`
  CASE WHEN g.settings IS NOT NULL THEN json_build_object(
    'settings', g.settings, 'expires_at', g.expires_at, 'decisions', coalesce(g.decisions, '[]'),
    'members', CASE WHEN g.settings #> '{approvers,members}' IS NOT NULL THEN (${approverNames}) END) END`;

/** An open gate `g`: a GateRow. */
export const gateRecord = sql.fragment`json_build_object(
  'kind', g.kind, 'node_id', g.node_id, 'step_key', g.step_key, 'label', g.label, 'prompt', g.prompt,
  'since', g.opened_at, 'rules', ${gateRules},
  'tool_call', CASE WHEN g.kind = 'tool_call' THEN json_build_object('tool', g.tool, 'turn', g.turn,
    'arguments', g.arguments, 'schema_digest', g.schema_digest, 'digest', g.digest) END)`;

interface RuleRow {
  settings: GateSettings;
  expires_at: string | null;
  decisions: GateVote[];
  members: { id: string; name: string | null }[] | null;
}

export interface GateRow extends Pick<
  PendingGate,
  'kind' | 'node_id' | 'step_key' | 'label' | 'prompt' | 'since'
> {
  rules: RuleRow | null;
  tool_call: PendingGate['tool_call'] | null;
}

export const toGate = ({ tool_call: call, rules, ...gate }: GateRow): PendingGate => ({
  ...gate,
  since: storedTime(gate.since),
  ...(rules === null ? {} : toRules(rules)),
  ...(call == null ? {} : { tool_call: call }),
});

function toRules({ settings, expires_at, decisions, members }: RuleRow): Partial<PendingGate> {
  const { input_schema, approvers, required, not_the_starter, on_timeout } = settings;
  return {
    ...(input_schema === undefined ? {} : { input_schema }),
    ...(approvers === undefined
      ? {}
      : {
          approvers: {
            ...(approvers.roles === undefined ? {} : { roles: approvers.roles }),
            ...(members === null ? {} : { members }),
          },
        }),
    ...(required === undefined ? {} : { required }),
    ...(not_the_starter === undefined ? {} : { not_the_starter }),
    ...(on_timeout === undefined ? {} : { on_timeout }),
    ...(expires_at === null ? {} : { expires_at: storedTime(expires_at) }),
    decisions,
  };
}
