import type { Operation } from './document.ts';
import { runnableGraphs } from './graphs.ts';
import { type House, json, relax } from './housekeeping.ts';
import type { Kind, State } from './state.ts';

/** Sends a request as the owner, records its response and resolves with it. Rejects unless it succeeds. */
type Ask = (name: string, given: { id?: string; body?: unknown }) => Promise<any>;

interface Maker {
  ask: Ask;
  outside: string;
  /** Unique per object. */
  serial: string;
}

const workflow = ({ ask, serial, outside }: Maker) =>
  ask('POST /api/workflows', { body: { name: serial, ...runnableGraphs(outside)[0] } });
const feed = ({ ask, serial }: Maker) => ask('POST /api/data/feeds', { body: { name: serial } });
const endpoint = ({ ask, outside }: Maker) => {
  const body = { url: `${outside}/endpoints/good`, events: ['ping'] };
  return ask('POST /api/webhooks', { body });
};
/** Creates an entity and an event of it. */
const records = async (maker: Maker) => {
  const { ask, serial } = maker;
  const { id } = await feed(maker);
  const entity = { entity_type: 'project', canonical_name: serial, attributes: {} };
  const event = {
    event_type: 'permit_filed',
    primary_external_key: serial,
    occurred_at: '2026-01-01T00:00:00Z',
    summary: serial,
  };
  const body = {
    feed_id: id,
    records: [
      { type: 'entity', external_key: serial, ...entity },
      { type: 'event', external_key: serial, ...event },
    ],
  };
  await ask('POST /api/data/ingest', { body });
  await ask('GET /api/data/entities', {});
  await ask('GET /api/data/events', {});
};

type Make = (maker: Maker) => Promise<unknown>;

/** Required kinds of objects, each with its creator, which also creates dependencies. */
export type Stock = readonly (readonly [Kind | 'hook', Make])[];

const makers = {
  wf: workflow,
  hook: async (maker) =>
    maker.ask('POST /api/workflows/{id}/webhook', { id: (await workflow(maker)).id }),
  run: async (maker) =>
    maker.ask('POST /api/workflows/{id}/runs', { id: (await workflow(maker)).id, body: {} }),
  tpl: async (maker) => {
    const { id } = await workflow(maker);
    return maker.ask('POST /api/templates', { body: { name: maker.serial, workflow_id: id } });
  },
  sch: async (maker) => {
    const { id } = await workflow(maker);
    return maker.ask('POST /api/schedules', { body: { workflow_id: id, cron: '@yearly' } });
  },
  tool: ({ ask, serial, outside }) =>
    ask('POST /api/tools', { body: { name: serial, endpoint_url: `${outside}/tools/plain` } }),
  con: ({ ask, serial, outside }) => {
    const name = `C${serial.toUpperCase().replaceAll(/\W/g, '_')}`;
    const client = { client_id: serial, client_secret: serial, preset: 'github' };
    return ask('POST /api/connections', {
      body: { name, ...client, token_url: `${outside}/tools/plain` },
    });
  },
  mem: ({ ask, serial }) => {
    const body = { name: serial, email: `${serial}@example.com`, role: 'viewer' };
    return ask('POST /api/members/invite', { body });
  },
  key: ({ ask, serial }) => ask('POST /api/keys', { body: { name: serial, role: 'viewer' } }),
  bud: ({ ask, serial }) => ask('POST /api/budgets', { body: { name: serial, limit_usd: 1_000 } }),
  dkey: ({ ask, serial }) =>
    ask('POST /api/data/keys', { body: { name: serial, mode: 'live', scopes: ['feeds:read'] } }),
  feed,
  src: ({ ask, serial }) =>
    ask('POST /api/data/sources', { body: { name: serial, type: 'portal' } }),
  ent: records,
  evt: records,
  end: endpoint,
  dlv: async (maker) =>
    maker.ask('POST /api/webhooks/{id}/ping', { id: (await endpoint(maker)).id }),
} satisfies Partial<Record<Kind | 'hook', Make>>;

/** One object of each kind that a path of the service can name. */
export const stock: Stock = Object.entries(makers) as [keyof typeof makers, Make][];

/** Removes obstacles that earlier requests may have created: the plan, policies, exhausted budgets. */
async function makeRoom(house: House, ask: Ask): Promise<void> {
  await relax(house);
  const budgets: { id: string }[] = await ask('GET /api/budgets', {});
  for (const { id } of budgets) {
    await ask('DELETE /api/budgets/{id}', { id });
    house.state.forget(`/api/budgets/${id}`);
  }
}

export interface Restocking {
  house: House;
  stock: Stock;
  outside: string;
  /** All operations, by name. */
  operations: ReadonlyMap<string, Operation>;
  serial: string;
}

/**
 * Creates one object of each kind that has none left: otherwise, after a deletion, a short run would have no target for
 * hundreds of requests. No other request can be in flight. Rejects if the service refuses.
 */
export async function restock(given: Restocking): Promise<void> {
  const { house, outside, operations, serial } = given;
  const { sender, state, owner } = house;
  const ask: Ask = async (name, { id = '', body }) => {
    const operation = operations.get(name);
    if (operation === undefined) throw new Error(`${name} is not documented`);
    const path = operation.path.replace('{id}', id);
    const answer = await sender.send({
      method: operation.method,
      path,
      headers: { ...owner.headers, ...(body === undefined ? {} : json) },
      ...(body === undefined ? {} : { bytes: Buffer.from(JSON.stringify(body)) }),
    });
    const text = answer.body.toString();
    if (answer.status < 200 || answer.status >= 300) {
      throw new Error(`${name} for the stock of the fuzzer was answered ${answer.status}: ${text}`);
    }
    if (text === '') return undefined;
    state.learn(operation, { path, body }, JSON.parse(text));
    return JSON.parse(text) as unknown;
  };
  const make = async (turn: string) => {
    for (const [kind, maker] of lacking(given.stock, state)) {
      await maker({ ask, outside, serial: `${serial}${turn}-${kind}` });
    }
  };
  try {
    await make('a');
  } catch {
    await makeRoom(house, ask);
    await make('b');
  }
  const [unknown] = lacking(given.stock, state);
  if (unknown !== undefined) throw new Error(`Nothing is known of its own ${unknown[0]}`);
}

/** The kinds without a known object. */
export const lacking = (all: Stock, state: State): Stock =>
  all.filter(([kind]) => state.count(kind) === 0);
