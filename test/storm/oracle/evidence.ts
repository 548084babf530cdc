import { Client } from '@temporalio/client';
import { connectLocally } from '#scripts/stack/temporal.ts';
import pg from 'pg';
import type { Act } from '#test/storm/actions.ts';
import type { Death } from '#test/storm/cluster.ts';
import type { EffectCall, Received } from '#test/storm/effects.ts';
import { type JournalRow, readJournal } from '#test/storm/journal.ts';
import { ask, type Person } from '#test/storm/people.ts';
import type { Follow } from '#test/storm/streams.ts';

/**
 * All data after a storm, as plain values: the responses to clients, the contents of the stores, the calls to the
 * outside. Checks use nothing else, so they can be tested with a modified copy. Times are ms since 1970.
 */
export interface Evidence {
  seed: string;
  startedAt: number;
  healedAt: number;
  takenAt: number;
  /** Whether everything had settled before the evidence was taken. */
  quiet: boolean;
  acts: Act[];
  deaths: Death[];
  effects: EffectCall[];
  received: Received[];
  follows: Follow[];
  schedules: { id: string; overlap: 'skip' | 'allow' }[];
  /** The limits of calls, by the steps that make such calls. */
  callLimits: Record<string, { concurrency?: number; per_minute?: number }>;
  db: Stored;
  executions: Execution[];
  api: FromApi;
  /** Missing in older evidence. */
  proofs?: Proof[];
}

/** What the verifier says about the evidence of a run. */
export interface Proof {
  id: string;
  proven: string;
  problems: string[];
}

export interface RunRow {
  id: string;
  workflow_id: string;
  workflow_version: number;
  status: 'pending' | 'running' | 'paused' | 'success' | 'failed';
  trigger: string;
  nonce: string | null;
  error: string | null;
  failure: { kind: string; node_id?: string } | null;
  cost: number;
  cap: number | null;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  resumed_count: number;
  frame_seq: number;
  schedule_id: string | null;
  due_at: number | null;
  created_by: string | null;
  /** Of a fork or rehearsal. Missing in older evidence, like the next two. */
  forked_from?: string | null;
  rehearsed?: boolean;
  experiment_id?: string | null;
}

export interface StepRow {
  run_id: string;
  step_key: string;
  node_id: string;
  kind: string;
  status: string;
  /** Missing in older evidence. `silent`: a copy or a turn of an agent, without frames. */
  caught?: boolean;
  silent?: boolean;
  errors: number;
  attempts: number;
  epoch: number;
  generation: number;
  tool: string | null;
  cost: number;
  started_at: number | null;
  finished_at: number | null;
}

export interface FrameRow {
  run_id: string;
  seq: number;
  /** As JSON, with the keys of the stream. */
  frame: { run_id: string; type: string; node_id?: string; [key: string]: unknown };
  at: number;
}

export interface WaitRow {
  run_id: string;
  step_key: string;
  node_id: string;
  kind: 'time' | 'event' | 'callback';
  status: 'open' | 'came' | 'late' | 'cancelled';
  event_id: string | null;
  due_at: number | null;
  ended_at: number | null;
  /** Of a callback. */
  answer: string | null;
}

interface Stored {
  runs: RunRow[];
  steps: StepRow[];
  frames: FrameRow[];
  gates: {
    run_id: string;
    step_key: string;
    round: number;
    node_id: string;
    status: string;
    decided_by: string | null;
    reason: string | null;
    opened_at: number;
  }[];
  audit: {
    id: string;
    action: string;
    actor_id: string | null;
    target_type: string;
    target_id: string;
    details: Record<string, unknown>;
    at: number;
  }[];
  unsealed: number;
  outbox: {
    id: number;
    run_id: string;
    kind: string;
    attempts: number;
    last_error: string | null;
  }[];
  keys: { key: string; workflow_id: string; run_id: string }[];
  events: { event_id: string; workflow_id: string; run_id: string }[];
  workflows: { id: string; name: string; version: number; status: string; versions: number }[];
  waits: WaitRow[];
  callbacks: { run_id: string; step_key: string; answer: string | null; received_at: number }[];
  journal: JournalRow[];
  sentEvents: {
    id: string;
    given_id: string | null;
    name: string;
    act: string | null;
    woke: number;
    created_at: number;
  }[];
  budgets: {
    id: string;
    name: string;
    workflow_id: string | null;
    limit: number;
    estimate: number | null;
    spent: number;
    reserved: number;
  }[];
  holds: {
    budget_id: string;
    run_id: string;
    n: number;
    base: number;
    held: number;
    spent: number;
    status: string;
  }[];
  usage: { runs: number; succeeded: number; failed: number; cost: number };
  members: { cost: number; runs: number; approvals: number; rejections: number };
  counted: number;
  entities: {
    id: string;
    external_key: string;
    version: number;
    versions: number;
    newest: number;
    act: string | null;
  }[];
  versionActs: { external_key: string; act: string; n: number }[];
  dataEvents: { id: string; external_key: string }[];
  changeProblems: { entity_id: string; version: number }[];
  outbound: { id: string; type: string; about: string | null; version: number | null }[];
  endpoints: { id: string; url: string; events: string[] }[];
  deliveries: {
    id: string;
    endpoint_id: string;
    event_id: string;
    status: string;
    reason: string | null;
    attempts: number;
    round: number;
    started: boolean;
    next_attempt_at: number | null;
  }[];
  attempts: {
    delivery_id: string;
    round: number;
    attempt: number;
    started_at: number;
    duration_ms: number;
    status_code: number | null;
  }[];
  charges: { request_id: string; credits: number; records: number }[];
  credits: { months: number; keys: number };
}

export interface Execution {
  id: string;
  type: string;
  runId: string;
  status: string;
}

export interface FromApi {
  /** `status`: the HTTP status if the API could not show the run. */
  runs: { id: string; status: string; cost: number; resumable: boolean; openGates: string[] }[];
  audit: { valid: boolean; problem: string | null };
  usage: { runs: number; cost: number };
  overview: { runs: number; cost: number };
  budgets: { id: string; spent: number; reserved: number }[];
  approvals: { run_id: string; step_key: string }[];
}

const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

const statements: Record<keyof Stored, { text: string; one?: boolean; value?: boolean }> = {
  runs: {
    text: `SELECT id, workflow_id, workflow_version, status, trigger, input->>'act' AS nonce, error, failure,
             cost_micros::float8 AS cost, cost_cap_micros::float8 AS cap, ${ms('created_at')} AS created_at,
             ${ms('started_at')} AS started_at, ${ms('finished_at')} AS finished_at, resumed_count,
             frame_seq::float8 AS frame_seq, schedule_id, ${ms('due_at')} AS due_at, created_by,
             forked_from, rehearsal IS NOT NULL AS rehearsed, experiment_id
           FROM runs ORDER BY created_at, id`,
  },
  steps: {
    text: `SELECT run_id, step_key, node_id, kind, status, caught,
             reused_from IS NOT NULL OR (turn IS NOT NULL AND call_index IS NULL) AS silent, errors, attempts, epoch, generation,
             input->>'at' AS tool, cost_micros::float8 AS cost, ${ms('started_at')} AS started_at, ${ms('finished_at')} AS finished_at
           FROM steps ORDER BY run_id, ordinal, step_key`,
  },
  frames: {
    text: `SELECT run_id, seq::float8 AS seq, frame, ${ms('created_at')} AS at FROM run_frames ORDER BY run_id, seq`,
  },
  gates: {
    text: `SELECT run_id, step_key, round, node_id, status, decided_by, reason, ${ms('opened_at')} AS opened_at
           FROM gates ORDER BY run_id, step_key, round`,
  },
  audit: {
    text: `SELECT id, action, actor_id, target_type, target_id, details, ${ms('created_at')} AS at
           FROM audit_log ORDER BY seq`,
  },
  unsealed: { text: 'SELECT count(*)::int AS value FROM audit_unsealed', value: true },
  outbox: {
    text: 'SELECT id::float8 AS id, run_id, kind, attempts, last_error FROM outbox ORDER BY id',
  },
  keys: { text: 'SELECT key, workflow_id, run_id FROM idempotency_keys' },
  events: { text: 'SELECT event_id, workflow_id, run_id FROM webhook_events' },
  workflows: {
    text: `SELECT id, name, version, status,
             (SELECT count(*)::int FROM workflow_versions v WHERE v.workflow_id = workflows.id) AS versions
           FROM workflows`,
  },
  waits: {
    text: `SELECT run_id, step_key, node_id, kind, status, event_id, ${ms('due_at')} AS due_at, ${ms('ended_at')} AS ended_at,
             output->>'answer' AS answer
           FROM run_waits ORDER BY run_id, step_key`,
  },
  callbacks: {
    text: `SELECT run_id, step_key, body->>'answer' AS answer, ${ms('received_at')} AS received_at FROM run_callbacks`,
  },
  journal: { text: readJournal },
  sentEvents: {
    text: `SELECT id, given_id, name, data->>'act' AS act, woke, ${ms('created_at')} AS created_at FROM events ORDER BY name, seq`,
  },
  budgets: {
    text: `SELECT id, name, workflow_id, limit_micros::float8 AS limit, estimate_micros::float8 AS estimate,
             spent_micros::float8 AS spent, reserved_micros::float8 AS reserved FROM budgets`,
  },
  holds: {
    text: `SELECT budget_id, run_id, n, base_micros::float8 AS base, held_micros::float8 AS held,
             spent_micros::float8 AS spent, status FROM budget_holds ORDER BY budget_id, run_id, n`,
  },
  usage: {
    one: true,
    text: `SELECT sum(runs)::float8 AS runs, sum(succeeded)::float8 AS succeeded, sum(failed)::float8 AS failed,
             sum(cost_micros)::float8 AS cost
           FROM (SELECT runs, succeeded, failed, cost_micros FROM usage_days
                 UNION ALL SELECT runs, succeeded, failed, cost_micros FROM usage_deltas) AS u`,
  },
  members: {
    one: true,
    text: `SELECT coalesce(sum(cost_micros), 0)::float8
             + coalesce((SELECT sum(cost_micros) FROM usage_deltas WHERE member_id IS NOT NULL), 0)::float8 AS cost,
             coalesce(sum(runs), 0)::float8 AS runs, coalesce(sum(approvals), 0)::float8 AS approvals,
             coalesce(sum(rejections), 0)::float8 AS rejections
           FROM member_days`,
  },
  counted: {
    text: 'SELECT coalesce(sum(runs), 0)::float8 AS value FROM run_counters',
    value: true,
  },
  entities: {
    text: `SELECT id, external_key, version,
             (SELECT count(*)::int FROM data_entity_versions v WHERE v.entity_id = e.id) AS versions,
             (SELECT max(version) FROM data_entity_versions v WHERE v.entity_id = e.id) AS newest,
             attributes->>'act' AS act
           FROM data_entities e`,
  },
  versionActs: {
    text: `SELECT e.external_key, v.attributes->>'act' AS act, count(*)::int AS n
           FROM data_entity_versions v JOIN data_entities e ON e.id = v.entity_id GROUP BY 1, 2`,
  },
  dataEvents: { text: 'SELECT id, external_key FROM data_events' },
  changeProblems: {
    text: `SELECT c.entity_id, c.version FROM data_changes c
           LEFT JOIN data_entity_versions v ON v.entity_id = c.entity_id AND v.version = c.version
           WHERE v.entity_id IS NULL OR NOT c.attribute = ANY(v.changed)
           UNION ALL
           SELECT v.entity_id, v.version FROM data_entity_versions v
           WHERE v.version > 1 AND cardinality(v.changed) <>
             (SELECT count(*) FROM data_changes c WHERE c.entity_id = v.entity_id AND c.version = v.version)`,
  },
  outbound: {
    text: `SELECT id, type, coalesce(data->>'entity_id', data->>'intelligence_event_id', data->>'export_id') AS about,
             (data->>'version')::int AS version
           FROM outbound_events`,
  },
  endpoints: { text: 'SELECT id, url, events FROM data_endpoints' },
  deliveries: {
    text: `SELECT id, endpoint_id, event_id, status, reason, attempts, round, started,
             ${ms('next_attempt_at')} AS next_attempt_at FROM data_deliveries`,
  },
  attempts: {
    text: `SELECT delivery_id, round, attempt, ${ms('started_at')} AS started_at, duration_ms, status_code
           FROM data_delivery_attempts ORDER BY delivery_id, round, attempt`,
  },
  charges: { text: 'SELECT request_id, credits, records FROM data_charges' },
  credits: {
    one: true,
    text: `SELECT (SELECT coalesce(sum(credits), 0) FROM data_months)::float8 AS months,
                  (SELECT coalesce(sum(credits), 0) FROM data_key_months)::float8 AS keys`,
  },
};

/** Reads everything in a single snapshot, so that sums agree. */
export async function readStored(databaseUrl: string): Promise<Stored> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const stored: Record<string, unknown> = {};
    for (const [name, { text, one, value }] of Object.entries(statements)) {
      const { rows } = await client.query(text);
      stored[name] = value === true ? rows[0].value : one === true ? rows[0] : rows;
    }
    return stored as unknown as Stored;
  } finally {
    await client.end();
  }
}

/** The newest execution of each workflow id. */
export async function readExecutions(address: string): Promise<Execution[]> {
  const connection = await connectLocally(address);
  try {
    const client = new Client({ connection });
    const newest = new Map<string, Execution & { started: number }>();
    for await (const info of client.workflow.list({ pageSize: 1_000 })) {
      const started = info.startTime.getTime();
      const known = newest.get(info.workflowId);
      const open = info.status.name === 'RUNNING';
      if (known !== undefined && !open && (known.status === 'RUNNING' || known.started > started)) {
        continue;
      }
      newest.set(info.workflowId, {
        id: info.workflowId,
        type: info.type,
        runId: info.runId,
        status: info.status.name,
        started,
      });
    }
    return [...newest.values()].map(({ started: _started, ...execution }) => execution);
  } finally {
    await connection.close();
  }
}

const READ_AT_ONCE = 8;

/** The same data from the API: through one process, as the owner. */
export async function readApi(
  baseUrl: string,
  owner: Person,
  runIds: readonly string[],
): Promise<FromApi> {
  const get = async (path: string): Promise<any> => {
    const { status, body } = await ask(baseUrl, owner, { method: 'GET', path });
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
  const micros = (usd: number): number => Math.round(usd * 1e6);
  const runs: FromApi['runs'] = [];
  const left = [...runIds];
  await Promise.all(
    Array.from({ length: READ_AT_ONCE }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const path = `/api/runs/${id}`;
        const { status, body } = await ask(baseUrl, owner, { method: 'GET', path });
        runs.push({
          id,
          status: status === 200 ? body.status : `HTTP ${status}`,
          cost: status === 200 ? micros(body.cost_usd) : 0,
          resumable: status === 200 && body.resumable,
          openGates: status === 200 ? body.pending_gates.map((gate: any) => gate.step_key) : [],
        });
      }
    }),
  );
  const audit = await get('/api/audit/verify');
  const usage = await get('/api/usage');
  const overview = await get('/api/metrics/overview');
  const budgets: any[] = await get('/api/budgets');
  const approvals: FromApi['approvals'] = [];
  for (let cursor = ''; ;) {
    const page = await get(`/api/approvals?limit=200${cursor}`);
    approvals.push(...page.approvals.map(({ run_id, step_key }: any) => ({ run_id, step_key })));
    if (page.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return {
    runs,
    audit: { valid: audit.valid, problem: audit.first_problem?.problem ?? null },
    usage: { runs: usage.runs_used, cost: micros(usage.cost_usd) },
    overview: { runs: overview.total_runs, cost: micros(overview.total_cost_usd) },
    budgets: budgets.map(({ id, status }) => ({
      id,
      spent: micros(status.spent_usd),
      reserved: micros(status.reserved_usd),
    })),
    approvals,
  };
}
