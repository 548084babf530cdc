import { shownTurn, type TurnRecord } from '#shared/agents/turn-record.ts';
import type { GateVote } from '#shared/contract/gates/gate.ts';
import type { Step, StepAttempt } from '#shared/contract/steps/step.ts';
import type { Json } from '#shared/json.ts';
import { toDollars, toMicros } from '#shared/money/money.ts';
import { asTool } from '#shared/tools.ts';
import { storedTime } from '#shared/time.ts';
import { joined, JsonText, put, valueOf } from '#shared/values/json-text.ts';
import { decidedByKind } from '#shared/db/gates/gate-records.ts';
import { sql } from '#shared/db/pool.ts';

type StepDecision = NonNullable<Step['decision']>;

/** A step as `json_build_object` returns it, without its input and output. */
export interface StepFields {
  step_key: string;
  node_id: string;
  label: string;
  kind: Step['kind'];
  iteration: number[];
  output_key: string | null;
  /** In the order of starts. */
  ordinal: number;
  attempts: number;
  /** Earlier attempts, if they are stored. */
  earlier: EarlierAttempt[] | null;
  status: Step['status'];
  queued_at: string | null;
  started_at: string;
  attempt_started_at: string | null;
  attempt_ended_at: string | null;
  finished_at: string | null;
  event_id: number | null;
  cost_micros: number;
  model: string | null;
  usage: Step['usage'] | null;
  unpriced: boolean;
  cost_estimated: boolean;
  error: string | null;
  error_kind: Step['error_kind'] | null;
  caught: boolean;
  /** For a caught error: the number of attempts that failed. */
  tries: number | null;
  policy: Step['policy'];
  decision:
    | (Omit<StepDecision, 'timed_out' | 'by_link' | 'by_slack'> & {
        timed_out: StepDecision['timed_out'] | null;
        by_link: true | null;
        by_slack: true | null;
      })
    | null;
  decisions: GateVote[] | null;
  parent_step_key: string | null;
  turn: number | null;
  call_index: number | null;
  call_tool: string | null;
  reused_from: string | null;
  /** What its code has logged. */
  log: string | null;
  /** The run that the step started. */
  child: { id: string; status: string } | null;
}

/** A step with its payloads. Large ones stay texts. */
export interface StepRow extends StepFields {
  input: Json | JsonText;
  output: Json | JsonText;
}

interface EarlierAttempt {
  attempt: number;
  outcome: StepAttempt['outcome'];
  started_at: string;
  ended_at: string;
  error: string | null;
  cost_micros: number;
}

/** The decision in the last round of the gate of step `s`; null when it is undecided. */
const lastDecision = sql.fragment`
  SELECT CASE WHEN g.status IN ('approved', 'rejected') THEN json_build_object(
    'approved', g.status = 'approved', 'by', g.decided_by_name, 'by_kind', ${decidedByKind}, 'at', g.decided_at, 'reason', g.reason,
    'timed_out', g.timed_out, 'by_link', CASE WHEN g.decided_by_link THEN true END,
    'by_slack', CASE WHEN g.decided_by_slack THEN true END) END
  FROM gates g WHERE g.run_id = s.run_id AND g.step_key = s.step_key ORDER BY g.round DESC LIMIT 1`;

/** The members' decisions in the last round of the gate of step `s`. */
const lastDecisions = sql.fragment`
  SELECT g.decisions FROM gates g WHERE g.run_id = s.run_id AND g.step_key = s.step_key ORDER BY g.round DESC LIMIT 1`;

/** Whether step `s` starts a run: a node of the kind `workflow`, or an agent's call of a workflow. */
export const startsRun = sql.fragment`(s.kind = 'workflow' OR starts_with(s.call_tool, ${asTool('')}::text))`;

const child = sql.fragment`
  SELECT json_build_object('id', c.id, 'status', c.status)
  FROM runs c WHERE c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key`;

const earlierAttempts = sql.fragment`
  SELECT json_agg(json_build_object('attempt', a.attempt, 'outcome', a.outcome, 'started_at', a.started_at,
    'ended_at', a.ended_at, 'error', a.error, 'cost_micros', a.cost_micros) ORDER BY a.attempt)
  FROM step_attempts a WHERE a.run_id = s.run_id AND a.step_key = s.step_key`;

const log = sql.fragment`
  SELECT c.log FROM step_code c WHERE c.run_id = s.run_id AND c.step_key = s.step_key`;

/** Whether a person may have decided about step `s`: a gate, or a call or step that needed approval. */
const mayHaveAsked = sql.fragment`
  (s.kind IN ('human_gate', 'tool', 'workflow') OR s.call_index IS NOT NULL)`;

/** The fields of a step `s`, as StepFields. */
export const stepRecord = sql.fragment`
  json_build_object(
    'step_key', s.step_key, 'node_id', s.node_id, 'label', s.label, 'kind', s.kind, 'iteration', s.iteration,
    'output_key', s.output_key, 'ordinal', s.ordinal, 'attempts', s.attempts, 'status', s.status, 'queued_at', s.queued_at,
    'started_at', s.started_at, 'attempt_started_at', s.attempt_started_at,
    'attempt_ended_at', s.attempt_ended_at, 'finished_at', s.finished_at,
    'earlier', CASE WHEN s.attempts > 1 THEN (${earlierAttempts}) END,
    'event_id', s.event_id, 'cost_micros', s.cost_micros, 'model', s.model, 'usage', s.usage, 'unpriced', s.unpriced,
    'cost_estimated', s.cost_estimated,
    'error', s.error, 'error_kind', s.error_kind, 'caught', s.caught,
    'tries', CASE WHEN s.caught THEN greatest(1, s.errors - s.forgiven) END, 'policy', s.policy,
    'decision', CASE WHEN ${mayHaveAsked} THEN (${lastDecision}) END,
    'decisions', CASE WHEN ${mayHaveAsked} THEN (${lastDecisions}) END,
    'child', CASE WHEN ${startsRun} THEN (${child}) END,
    'parent_step_key', s.parent_step_key, 'turn', s.turn, 'call_index', s.call_index, 'call_tool', s.call_tool,
    'reused_from', s.reused_from,
    'log', CASE WHEN s.kind IN ('code', 'tool') THEN (${log}) END
  )`;

/** Separates payloads. JSON only contains this character as an escape. */
const SEPARATOR = '\x1e';
const separator = sql.fragment`${SEPARATOR}::text`;

/** The payloads of a step `s` as one text. */
export const stepPayloads = sql.fragment`
  coalesce(s.input::text, 'null') || ${separator} || coalesce(s.output::text, 'null')`;

/** The payloads of all steps of a group. */
export const allPayloads = sql.fragment`string_agg(${stepPayloads}, ${separator})`;

/** Payloads of up to this many characters are parsed, which is cheaper than keeping them as text. */
const SMALL = 16_384;

/** A stored payload. A large one stays text. */
export const payloadOf = (text: string): Json | JsonText =>
  text.length > SMALL ? new JsonText(text) : (JSON.parse(text) as Json);

/** Combines steps with their payloads, which are in the same order. */
export function withPayloads(steps: readonly StepFields[], payloads: string | null): StepRow[] {
  const texts = payloads?.split(SEPARATOR) ?? [];
  return steps.map((step, at) => ({
    ...step,
    input: payloadOf(texts[2 * at]!),
    output: payloadOf(texts[2 * at + 1]!),
  }));
}

/** The steps of a run in the form of its record. */
export const toSteps = (rows: readonly StepRow[]): Step[] => withAgentCosts(rows.map(toStep));

function toStep(row: StepRow): Step {
  const started = Date.parse(row.started_at);
  const step: Step = {
    step_key: row.step_key,
    node_id: row.node_id,
    label: row.label,
    kind: row.kind,
    iteration: row.iteration,
    attempt: row.attempts,
    status: row.status,
    started_at: storedTime(row.started_at),
    finished_at: row.finished_at === null ? null : storedTime(row.finished_at),
    duration_ms:
      row.finished_at === null ? null : Math.max(0, Date.parse(row.finished_at) - started),
    queued_ms: row.queued_at === null ? null : Math.max(0, started - Date.parse(row.queued_at)),
    retried_ms: retriedMs(row, started),
    attempts: attemptsOf(row),
    cost_usd: toDollars(row.cost_micros),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.usage == null ? {} : { usage: row.usage }),
    ...(row.unpriced ? { unpriced: true } : {}),
    ...(row.cost_estimated ? { cost_estimated: true } : {}),
    input: null,
    output: null,
    error: row.error,
    ...(row.error_kind == null ? {} : { error_kind: row.error_kind }),
    ...(row.caught ? { caught: true } : {}),
    policy: row.policy,
    ...(row.reused_from == null ? {} : { reused_from: row.reused_from }),
    ...(row.log == null ? {} : { log: row.log }),
    ...(row.child == null ? {} : childOf(row.child)),
    ...(row.decision === null
      ? {}
      : {
          decision: withoutNullFields({ ...row.decision, at: storedTime(row.decision.at) }),
        }),
    ...(row.decisions === null ? {} : { decisions: row.decisions }),
    ...agentPartOf(row),
  };
  put(step, 'input', row.input);
  put(
    step,
    'output',
    isTurn(row) ? shownTurn(valueOf(row.output) as TurnRecord | null) : row.output,
  );
  return step;
}

const isTurn = ({ parent_step_key, turn, call_index }: StepRow): boolean =>
  parent_step_key !== null && turn !== null && call_index === null;

const childOf = ({ id, status }: NonNullable<StepRow['child']>) => ({
  child_run_id: id,
  ...(status === 'paused' ? { paused_child: true as const } : {}),
});

const withoutNullFields = ({
  timed_out: timedOut,
  by_link: byLink,
  by_slack: bySlack,
  ...decision
}: NonNullable<StepRow['decision']>): StepDecision => ({
  ...decision,
  ...(timedOut === null ? {} : { timed_out: timedOut }),
  ...(byLink === true ? { by_link: true } : {}),
  ...(bySlack === true ? { by_slack: true } : {}),
});

function agentPartOf({ parent_step_key, turn, call_index: index, call_tool: tool }: StepRow) {
  if (parent_step_key === null || turn === null) return {};
  return {
    parent_step_key,
    turn,
    ...(index === null ? {} : { tool_call: { tool: tool ?? '', index } }),
  };
}

/** Adds the cost and tokens of turns and calls to the step of an agent with tools. */
function withAgentCosts(steps: Step[]): Step[] {
  const parts = new Map<string, Step[]>();
  for (const step of steps) {
    if (step.parent_step_key === undefined) continue;
    const group = parts.get(step.parent_step_key);
    if (group === undefined) parts.set(step.parent_step_key, [step]);
    else group.push(step);
  }
  if (parts.size === 0) return steps;
  return steps.map((step) => {
    const own = parts.get(step.step_key);
    if (own === undefined) return step;
    const usages = own.flatMap(({ usage }) => usage ?? []);
    const model = own.findLast((part) => part.model !== undefined)?.model;
    return joined(step, {
      cost_usd: toDollars(own.reduce((sum, part) => sum + toMicros(part.cost_usd), 0)),
      input:
        own.find((part) => part.turn === 1 && part.tool_call === undefined)?.input ?? step.input,
      ...(model === undefined ? {} : { model }),
      ...(usages.length === 0 ? {} : { usage: usages.reduce(addUsage) }),
      ...(own.some((part) => part.unpriced) ? { unpriced: true } : {}),
      ...(own.some((part) => part.cost_estimated) ? { cost_estimated: true } : {}),
    });
  });
}

type Usage = NonNullable<Step['usage']>;

/** Absent if neither has it. */
const addedPart = (part: 'cached_tokens' | 'cache_write_tokens', one: Usage, other: Usage) =>
  one[part] === undefined && other[part] === undefined
    ? {}
    : { [part]: (one[part] ?? 0) + (other[part] ?? 0) };

const addUsage = (one: Usage, other: Usage): Usage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  ...addedPart('cached_tokens', one, other),
  ...addedPart('cache_write_tokens', one, other),
});

function attemptsOf(row: StepRow): StepAttempt[] {
  // A tool call that waits for approval, or was rejected, has no attempt.
  if (row.status === 'skipped' || row.attempts === 0) return [];
  const earlier = row.earlier ?? [];
  const before = earlier.reduce((sum, { cost_micros }) => sum + cost_micros, 0);
  const newest = {
    attempt: row.attempts,
    outcome: outcomeOf(row),
    started_at: row.attempt_started_at ?? row.started_at,
    ended_at: row.attempt_ended_at ?? row.finished_at,
    error: row.error,
    cost_micros: row.cost_micros - before,
  };
  return [...earlier, newest].map(
    ({ attempt, outcome, started_at, ended_at, error, cost_micros }) => ({
      attempt,
      outcome,
      started_at: storedTime(started_at),
      finished_at: ended_at === null ? null : storedTime(ended_at),
      duration_ms:
        ended_at === null ? null : Math.max(0, Date.parse(ended_at) - Date.parse(started_at)),
      error,
      cost_usd: toDollars(cost_micros),
    }),
  );
}

/** The outcome of the newest attempt. A trigger stores the outcomes of earlier ones. */
function outcomeOf({ status, attempt_ended_at, error }: StepRow): StepAttempt['outcome'] {
  if (attempt_ended_at !== null) return error === null ? 'interrupted' : 'failed';
  return status === 'success' || status === 'failed' || status === 'cancelled' ? status : null;
}

function retriedMs(row: StepRow, started: number): number | null {
  if (row.attempt_started_at === null) return row.attempts === 1 ? 0 : null;
  return Math.max(0, Date.parse(row.attempt_started_at) - started);
}
