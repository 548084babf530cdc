import type { Json } from '#shared/json.ts';
import { namesAnId, type Operation } from './api-operations.ts';
import type { Kind } from './populated-workspace.ts';

/** A place in a request that can reference an object of another workspace. */
export interface Target {
  in: 'path' | 'query' | 'header' | 'body';
  /** The name of the parameter, or the path of a field in the body. */
  at: string[];
  kind: Kind;
}

/** The kind of `{id}`, by the path before it. */
const collections: Record<string, Kind> = {
  '/api/members': 'member',
  '/api/workflows': 'workflow',
  '/api/templates': 'template',
  '/api/runs': 'run',
  '/api/experiments': 'experiment',
  '/api/inbound-events': 'inbound event',
  '/api/events': 'sent event',
  '/api/triggers': 'trigger',
  '/api/event-replays': 'event replay',
  '/api/tools': 'tool',
  '/api/connections': 'connection',
  '/api/schedules': 'schedule',
  '/api/keys': 'api key',
  '/api/authorizations': 'authorization',
  '/api/budgets': 'budget',
  '/api/data/keys': 'data key',
  '/api/data/feeds': 'feed',
  '/api/data/sources': 'source',
  '/api/data/entities': 'entity',
  '/api/webhooks': 'endpoint',
  '/api/workspace/policies/backtest': 'backtest',
  '/v1/entities': 'entity',
  '/v1/events': 'event',
  '/v1/webhooks': 'endpoint',
};

/** The kind of any other parameter or field; `null`: nothing that belongs to a workspace. */
const names: Record<string, Kind | null> = {
  workflow_id: 'workflow',
  allowed_workflow_ids: 'workflow',
  run_id: 'run',
  parent_run_id: 'run',
  member_id: 'member',
  actor_id: 'member',
  // Any kind.
  target_id: 'workflow',
  feed_id: 'feed',
  source_id: 'source',
  entity_id: 'entity',
  delivery_id: 'delivery',
  event_id: 'outbound event',
  version: 'version',
  secret: 'hook secret',
  // An account of Slack.
  team_id: null,
  user_id: null,
  // A signed address, without an id of its own.
  token: null,
  'idempotency-key': 'idempotency key',
  'x-service-event-id': 'event key',
  'if-match': null,
  'x-service-timestamp': null,
  'x-service-signature': null,
  // Valid only within a graph or a run.
  node_id: null,
  step_key: null,
  // The client at another service, or of `/api/mcp`: neither belongs to a workspace.
  client_id: null,
  // Names a secret or a connection of the caller's own workspace.
  name: null,
  // Ids of records in external systems.
  external_ids: null,
};

/** The places where a request references an object. Throws for a name without a declared kind. */
export function targetsOf(operation: Operation): Target[] {
  const parameters = operation.parameters
    .filter((parameter) => parameter.in !== 'query' || namesAnId(parameter.name))
    .map((parameter) => ({ in: parameter.in, at: [parameter.name] }));
  const fields = operation.bodyIds.map((at) => ({ in: 'body' as const, at }));
  return [...parameters, ...fields].flatMap((place) => {
    const kind = kindOf(operation, place);
    return kind === null ? [] : [{ ...place, kind }];
  });
}

function kindOf(operation: Operation, { in: where, at }: Omit<Target, 'kind'>): Kind | null {
  const name = at.at(-1) ?? '';
  if (name === 'id' && where === 'path') {
    const kind = collections[operation.path.split('/{')[0] ?? ''];
    if (kind !== undefined) return kind;
  }
  // The id that the caller chose for an event, which counts within the workspace.
  if (name === 'id' && operation.path === '/api/events') return null;
  // Nodes and edges have ids local to the graph.
  if (name === 'id' && at.includes('graph')) return null;
  // The id of a JSON-RPC message only identifies its response. The inputs of tools are tested per tool.
  if (operation.path === '/api/mcp') return null;
  const kind = names[name];
  if (kind !== undefined) return kind;
  throw new Error(
    `${operation.name} takes "${at.join('.')}" in its ${where}: say in test/support/attack-plan.ts what it names ` +
      `(collections or names), and have test/support/populated-workspace.ts make one if it is of a new kind`,
  );
}

/** A request with these ids in the places that reference objects. */
export interface Aimed {
  url: string;
  headers: Record<string, string>;
  body: Json | undefined;
}

/** Required parameters that reference nothing of another workspace. */
const plain: Record<string, string> = { from: '1', to: '1', name: 'CRM_API_KEY', node_id: 'gate' };

/**
 * Fields that must accompany a reference and are missing in the example of the body; a field set to null is removed.
 */
const around: Record<string, Record<string, Json>> = {
  'POST /api/budgets workflow_id': { scope: 'workflow' },
  'POST /api/templates workflow_id': { graph: null },
};

/** Fields of an example that do not fit the objects of the populated workspace. */
const fitting: Record<string, Record<string, Json>> = {
  'POST /api/runs/{id}/fork': { from_step: 'gate' },
};

/** Requests whose reference is in the query and not in the body: a valid body, and its type. */
const unnamedBodies: Record<string, { type: string; body: Json }> = {
  'POST /api/data/ingest feed_id': {
    type: 'application/x-ndjson',
    body: {
      type: 'entity',
      external_key: 'x',
      entity_type: 'x',
      canonical_name: 'x',
      attributes: {},
    },
  },
};

/**
 * Fills an operation. `idFor` returns the id for each target, or undefined to omit a query parameter, header or body
 * field.
 */
export function aim(
  operation: Operation,
  targets: readonly Target[],
  idFor: (target: Target) => string | undefined,
): Aimed {
  const given = targets.flatMap((target) => {
    const id = idFor(target);
    return id === undefined ? [] : [{ target, id }];
  });
  const idOf = (where: Target['in'], name: string) =>
    given.find(({ target }) => target.in === where && target.at[0] === name)?.id;
  const path = operation.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => idOf('path', name) ?? plain[name] ?? '',
  );
  const query = new URLSearchParams();
  for (const { name, required, in: where } of operation.parameters) {
    const value =
      where === 'query' ? (idOf('query', name) ?? (required ? plain[name] : undefined)) : undefined;
    if (value !== undefined) query.set(name, value);
  }
  const search = query.toString();
  const headers = Object.fromEntries(
    operation.parameters.flatMap(({ in: where, name }) => {
      const value = where === 'header' ? idOf('header', name) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
  let body = structuredClone(operation.example);
  const fits = fitting[operation.name];
  if (fits !== undefined) body = { ...(body as Record<string, Json>), ...fits };
  for (const { target, id } of given) {
    if (target.in !== 'body') continue;
    const fields = around[`${operation.name} ${target.at.join('.')}`] ?? {};
    body = { ...(body as Record<string, Json>), ...fields };
    for (const [name, value] of Object.entries(fields)) if (value === null) delete body[name];
    body = put(body, target.at, id);
  }
  const url = search === '' ? path : `${path}?${search}`;
  const unnamed = [...query.keys()].flatMap(
    (name) => unnamedBodies[`${operation.name} ${name}`] ?? [],
  )[0];
  if (unnamed === undefined) return { url, headers, body };
  return { url, headers: { ...headers, 'content-type': unnamed.type }, body: unnamed.body };
}

/** A copy of a value with the id inserted, in the first element of each list on the path. */
function put(value: Json | undefined, [step, ...rest]: string[], id: string): Json {
  if (step === undefined) return id;
  if (step === '[]') {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [put(first, rest, id), ...others];
  }
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const inside = put(object[step], rest, id);
  return { ...object, [step]: step.endsWith('_ids') ? [inside] : inside };
}

/** Whether the example of a body already sets this field. */
export function isInExample(operation: Operation, { at }: Target): boolean {
  let value: Json | undefined = operation.example;
  for (const step of at) {
    if (step === '[]') value = Array.isArray(value) ? value[0] : undefined;
    else {
      value =
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? value[step]
          : undefined;
    }
  }
  return value !== undefined && value !== null;
}
