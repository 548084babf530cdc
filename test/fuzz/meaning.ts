import type { Random } from '#test/storm/random.ts';
import type { Operation } from './document.ts';
import { runnableGraphs } from './graphs.ts';
import type { Kind, State } from './state.ts';

/** The inputs for a request, besides the document. */
export interface Source {
  state: State;
  random: Random;
  /** Base URL of the fake outside; requests contain no other host. */
  outside: string;
  /** Unique per request. */
  serial: string;
}

/** The kind of id in a field, by field name. */
const kindsOfFields: Record<string, Kind> = {
  workflow_id: 'wf',
  run_id: 'run',
  member_id: 'mem',
  actor_id: 'mem',
  feed_id: 'feed',
  source_id: 'src',
  entity_id: 'ent',
  event_id: 'evt',
};

/** The kind of `{id}` below a path. */
const kindsOfPaths: readonly (readonly [string, Kind])[] = [
  ['/api/workflows', 'wf'],
  ['/api/templates', 'tpl'],
  ['/api/runs', 'run'],
  ['/api/members', 'mem'],
  ['/api/tools', 'tool'],
  ['/api/connections', 'con'],
  ['/api/triggers', 'trg'],
  ['/api/schedules', 'sch'],
  ['/api/keys', 'key'],
  ['/api/budgets', 'bud'],
  ['/api/data/keys', 'dkey'],
  ['/api/data/feeds', 'feed'],
  ['/api/data/sources', 'src'],
  ['/api/data/entities', 'ent'],
  ['/api/webhooks', 'end'],
  ['/v1/feeds', 'feed'],
  ['/v1/entities', 'ent'],
  ['/v1/events', 'evt'],
  ['/v1/webhooks', 'end'],
];

/** Required states of an operation's target. */
const wantedStates: Record<string, readonly string[]> = {
  decideGate: ['paused'],
  resumeRun: ['failed'],
  overrideBudget: ['failed by budget'],
  cancelRun: ['running', 'paused', 'pending'],
  approveMember: ['pending'],
  renewInvite: ['invited'],
  redeliverDelivery: ['dead', 'delivered'],
  redeliverWebhookDelivery: ['dead', 'delivered'],
};

/** The values of an operation's path, preferably ids of objects that exist. */
export function pathValues(operation: Operation, source: Source): Record<string, string> {
  const { state, random } = source;
  const names = operation.parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  const states = wantedStates[operation.id];
  const kind = kindsOfPaths.find(([prefix]) => operation.path.startsWith(`${prefix}/{`))?.[1];
  const values: Record<string, string> = {};
  if (operation.surface === 'hooks') {
    const hook = state.hook(random);
    return { workflow_id: hook?.workflowId ?? 'wf_x', secret: hook?.secret ?? 'x' };
  }
  if (names.includes('delivery_id')) {
    values['delivery_id'] = state.id('dlv', random, states) ?? 'dlv_x';
    const parent = state.parentOf(values['delivery_id']);
    if (parent !== undefined) return { ...values, id: parent };
  }
  if (names.includes('version')) values['version'] = String(random.int(1, 2));
  if (operation.path.startsWith('/api/secrets/')) values['name'] = 'FUZZED';
  for (const name of names) {
    const own = kind ?? kindsOfFields[name];
    values[name] ??= (own && state.id(own, random, states)) ?? `${own ?? 'x'}_unknown`;
  }
  return values;
}

type Meaning = (source: Source, value: unknown) => unknown;

export const PASSWORD = 'correct horse battery';
const crons = ['0 9 * * 1-5', '*/5 * * * *', '@daily', '30 8 1 1 *', '0 0 29 2 *'];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];
const recently = ({ random }: Source): string =>
  new Date(Date.now() - random.int(0, 3 * 86_400_000)).toISOString();
const named: Meaning = ({ random, serial }) => `${random.pick(['Alpha', 'Beta', 'Ünï'])} ${serial}`;
const url: Meaning = ({ outside, random }) =>
  `${outside}/${random.pick(['endpoints/good', 'endpoints/good', 'endpoints/broken', 'tools/plain', 'tools/late'])}`;

/** Fields whose meaning is not in their schema. */
const meanings: Record<string, Meaning> = {
  name: named,
  email: ({ serial }) => `${serial}@example.com`,
  password: () => PASSWORD,
  new_password: ({ random }) => `${PASSWORD} ${random.int(1, 3)}`,
  invite_code: ({ state, random }) => state.inviteCode(random) ?? 'inv_unknown',
  cron: ({ random }) => random.pick(crons),
  timezone: ({ random }) => random.pick(zones),
  endpoint_url: url,
  authorization_url: url,
  token_url: url,
  url,
  regex: ({ random }) => random.pick(['\\bEMP-\\d{6}\\b', '^a+$', '[a-z]{2,4}']),
  pattern: ({ random }) => random.pick(['^x', 'secret', '[0-9]+$']),
  expires_at: ({ random }) =>
    random.chance(0.5) ? null : new Date(Date.now() + random.int(1e6, 1e10)).toISOString(),
  ip_allowlist: ({ random }) =>
    random.weighted([
      [9, []],
      [1, ['127.0.0.0/8']],
      [1, ['10.0.0.0/8', '::1']],
    ]),
  monthly_request_allowance: ({ random }) =>
    random.weighted([
      [4, null],
      [1, 40],
      [1, 0],
    ]),
  monthly_credit_allowance: ({ random }) =>
    random.weighted([
      [4, null],
      [1, 30],
      [1, 0],
    ]),
  from: () => '1',
  to: ({ random }) => random.pick(['1', '1', '2']),
  updated_since: recently,
  created_since: recently,
  since: recently,
  checked_at: recently,
  observed_at: recently,
  model_allowlist: ({ random }) => random.pick([null, null, ['mock'], ['mock', 'openai/x']]),
  limit_usd: ({ random }) =>
    random.weighted([
      [8, 1_000],
      [1, 0.001],
      [1, 0.000001],
    ]),
  reservation_estimate_usd: ({ random }) => random.pick([null, 0.01, 1]),
  timeout_seconds: ({ random }) => random.int(1, 3),
  retry_count: ({ random }) => random.int(0, 1),
  scopes: (_source, value) => value,
  headers: ({ random }) => random.pick([{}, { authorization: 'Bearer x' }, { 'x-a': '1' }]),
  external_key: ({ random }) => `record-${random.int(1, 12)}`,
  primary_external_key: ({ random }) => `record-${random.int(1, 12)}`,
  input_schema: ({ random }) =>
    random.pick([
      null,
      { type: 'object' },
      { type: 'object', properties: { a: { type: 'string' } } },
    ]),
  step_key: () => undefined,
  node_id: () => undefined,
  tool: ({ random }) => random.pick(['send_email', 'chat_message', 'custom:unknown']),
};

/** Gives fields of a body ids that exist and values that work; some keep their generated values. */
export function giveMeaning(value: unknown, operation: Operation, source: Source): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { random } = source;
  const body = fill(value, operation, source) as Record<string, unknown>;
  if (Array.isArray(body)) return body;
  if ('graph' in body || (operation.id === 'createWorkflow' && random.chance(0.9))) {
    if (random.chance(0.85)) {
      const { run_cap_usd: _cap, ...rest } = body;
      return { ...rest, ...random.pick(runnableGraphs(source.outside)) };
    }
  }
  if (body['scope'] === 'workspace') delete body['workflow_id'];
  if (body['scope'] === 'workflow') {
    body['workflow_id'] = source.state.id('wf', random) ?? body['workflow_id'];
  } else if (operation.path.startsWith('/api/budgets')) delete body['workflow_id'];
  return body;
}

function fill(value: unknown, operation: Operation, source: Source): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, operation, source));
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).map(([name, inner]) => [
    name,
    source.random.chance(0.93) ? meant(name, inner, operation, source) : inner,
  ]);
  return Object.fromEntries(filled.filter(([, inner]) => inner !== undefined));
}

function meant(name: string, inner: unknown, operation: Operation, source: Source): unknown {
  const { state, random } = source;
  if (name === 'graph' || name === 'input' || name === 'sample_input') return inner;
  const kind = kindsOfFields[name];
  if (kind !== undefined) return state.id(kind, random) ?? inner;
  if (name === 'allowed_workflow_ids') return [state.id('wf', random) ?? 'wf_unknown'];
  if (name === 'expression' || (name === 'value' && operation.path.endsWith('/checks'))) {
    return inner;
  }
  // Elsewhere, `name` refers to an existing tool.
  if (name === 'name' && operation.path.startsWith('/api/tools')) {
    return `t-${source.serial.toLowerCase()}`;
  }
  const meaning = meanings[name];
  return meaning === undefined ? fill(inner, operation, source) : meaning(source, inner);
}

/** The value of a query parameter; undefined: use the value generated from its schema. */
export function queryValue(name: string, operation: Operation, source: Source): string | undefined {
  const { state, random } = source;
  if (name === 'cursor') return state.cursor(operation, random);
  if (name === 'feed_id' && operation.method === 'POST') return undefined;
  const kind = kindsOfFields[name];
  if (kind !== undefined) return state.id(kind, random);
  const meaning = meanings[name];
  const value = meaning?.(source, undefined);
  return typeof value === 'string' ? value : undefined;
}
