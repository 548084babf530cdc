import { idPrefixes } from '#shared/crypto/ids.ts';
import type { Random } from '#test/storm/random.ts';
import type { Operation } from './document.ts';

/** `run`, `wf`, `mem`: the prefix of an id. */
export type Kind = (typeof idPrefixes)[keyof typeof idPrefixes];

export interface Hook {
  workflowId: string;
  secret: string;
  /** According to the responses so far. */
  signed: boolean;
}

/** The credential of a request. */
export interface Credential {
  /** Its name in reports, which contain no secrets. */
  name: string;
  headers: Record<string, string>;
  /** The member's password, if the session can change it. */
  password?: string;
  /** The body of the member's login request. */
  login?: { email: string; password: string };
}

/**
 * Data from earlier responses, for later requests: ids with their last known status, deleted ids, cursors, codes and
 * secrets. Never contains ids that the fuzzer itself depends on.
 */
export interface State {
  /** Records the data of a successful response. */
  learn(operation: Operation, request: { path: string; body?: unknown }, body: unknown): void;
  /** Removes the object that the path names, and all objects below it. */
  forget(path: string): void;
  /** An id of this kind, preferably in the first of these states that has any; undefined if there is none. */
  id(kind: Kind, random: Random, states?: readonly string[]): string | undefined;
  goneId(random: Random): string | undefined;
  anyId(random: Random): string | undefined;
  /** The parent id in its path, for example the endpoint of a delivery. */
  parentOf(id: string): string | undefined;
  cursor(operation: Operation, random: Random): string | undefined;
  anyCursor(random: Random): string | undefined;
  inviteCode(random: Random): string | undefined;
  hook(random: Random): Hook | undefined;
  /** Credentials that the service has issued: keys of the operations API, keys of the data API, sessions. */
  credentials: { operations: Credential[]; data: Credential[]; sessions: Credential[] };
  count(kind: Kind | 'hook'): number;
  /** All ids of a kind except the `keep` newest, oldest first. */
  beyond(kind: Kind, keep: number): string[];
  protect(...ids: string[]): void;
}

/** The newest ones are most likely still active. */
const MAX_IDS = 300;
const MAX_OTHERS = 60;

const idPattern = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}(?:_\d+)?$/;
const known = new Set<string>(Object.values(idPrefixes));

/** The prefix of an id; undefined if the text is no id. */
export function kindOf(text: string): Kind | undefined {
  const prefix = idPattern.exec(text)?.[1];
  return prefix !== undefined && known.has(prefix) ? (prefix as Kind) : undefined;
}

export function createState(): State {
  const ids = new Map<Kind, string[]>();
  const statuses = new Map<string, string>();
  const parents = new Map<string, string>();
  const own = new Set<string>();
  const gone: string[] = [];
  const cursors = new Map<string, string[]>();
  const invites: string[] = [];
  const hooks: Hook[] = [];
  const credentials: State['credentials'] = { operations: [], data: [], sessions: [] };

  const push = <T>(list: T[], item: T, max = MAX_OTHERS): void => {
    list.push(item);
    if (list.length > max) list.shift();
  };
  const learnId = (id: string, status: string | undefined, parent: string | undefined): void => {
    const kind = kindOf(id);
    if (kind === undefined || own.has(id) || gone.includes(id)) return;
    let list = ids.get(kind);
    if (list === undefined) ids.set(kind, (list = []));
    if (!statuses.has(id)) {
      push(list, id, MAX_IDS);
      statuses.set(id, status ?? '');
      if (parent !== undefined && parent !== id) parents.set(id, parent);
    } else if (status !== undefined) statuses.set(id, status);
  };

  const drop = (kind: Kind, id: string): void => {
    const rest = (ids.get(kind) ?? []).filter((each) => each !== id);
    ids.set(kind, rest);
    statuses.delete(id);
    parents.delete(id);
  };

  const dropHooks = (workflowId: string): void => {
    const at = hooks.findIndex((hook) => hook.workflowId === workflowId);
    if (at >= 0) hooks.splice(at, 1);
  };

  const learnSecret = (found: Record<string, unknown>, request: { body?: unknown }): void => {
    const { secret, token, id } = found;
    const name = typeof id === 'string' ? id : 'session';
    if (typeof secret === 'string' && secret.startsWith('ops_')) {
      push(credentials.operations, { name: `key ${name}`, headers: { 'x-api-key': secret } });
    } else if (typeof secret === 'string' && secret.startsWith('svc_')) {
      push(credentials.data, { name: `data key ${name}`, headers: { 'x-api-key': secret } });
    } else if (
      typeof token === 'string' &&
      !own.has((found['member'] as { id?: string })?.id ?? '')
    ) {
      const { password, new_password: changed } = (request.body ?? {}) as Record<string, unknown>;
      const given = changed ?? password;
      push(credentials.sessions, {
        name: 'session of a member',
        headers: { authorization: `Bearer ${token}` },
        ...(typeof given === 'string' ? { password: given } : {}),
      });
    }
  };

  const learnHook = (operation: Operation, found: Record<string, unknown>): void => {
    if (!operation.path.includes('/webhook') || typeof found['url'] !== 'string') return;
    const [, workflowId, secret] = /\/api\/hooks\/([^/]+)\/([^/]+)$/.exec(found['url']) ?? [];
    if (workflowId === undefined || secret === undefined) return;
    const signed = found['require_signature'] === true;
    dropHooks(workflowId);
    push(hooks, { workflowId, secret, signed });
  };

  const walk = (
    value: unknown,
    context: { operation: Operation; parent: string | undefined; body?: unknown },
    depth = 0,
  ): void => {
    if (typeof value !== 'object' || value === null || depth > 8) return;
    if (Array.isArray(value)) {
      for (const item of value.slice(0, 50)) walk(item, context, depth + 1);
      return;
    }
    const found = value as Record<string, unknown>;
    if (typeof found['id'] === 'string') learnId(found['id'], statusOf(found), context.parent);
    if (typeof found['invite_code'] === 'string') push(invites, found['invite_code']);
    learnSecret(found, context);
    learnHook(context.operation, found);
    for (const [name, inner] of Object.entries(found)) {
      if (name.endsWith('_id') && typeof inner === 'string') learnId(inner, undefined, undefined);
      else walk(inner, context, depth + 1);
    }
  };

  const one = <T>(list: readonly T[] | undefined, random: Random): T | undefined =>
    list === undefined || list.length === 0 ? undefined : random.pick(list);

  return {
    credentials,
    learn: (operation, { path, body: sent }, body) => {
      walk(body, { operation, parent: idsIn(path)[0], body: sent });
      const { next_cursor: own, pagination } = (body ?? {}) as Record<string, any>;
      const next: unknown = own ?? pagination?.next_cursor;
      if (typeof next !== 'string') return;
      let list = cursors.get(operation.name);
      if (list === undefined) cursors.set(operation.name, (list = []));
      push(list, next, 20);
    },
    forget: (path) => {
      const [id = '', above = ''] = partsOf(path).toReversed();
      if (id === 'webhook') dropHooks(above);
      // A path that ends in a sub-resource leaves the object itself.
      const kind = kindOf(id);
      if (kind === undefined) return;
      dropHooks(id);
      drop(kind, id);
      push(gone, id);
      // Objects below it are gone as well.
      for (const [child, parent] of parents) {
        const childKind = kindOf(child);
        if (parent === id && childKind !== undefined) drop(childKind, child);
      }
    },
    id: (kind, random, states) => {
      const list = ids.get(kind);
      for (const state of states ?? []) {
        // The newest ones most likely still have their last known status.
        const fit = list?.filter((id) => statuses.get(id) === state).slice(-8);
        if (fit !== undefined && fit.length > 0) return random.pick(fit);
      }
      return one(list, random);
    },
    goneId: (random) => one(gone, random),
    anyId: (random) => one([...ids.values()].flat(), random),
    parentOf: (id) => parents.get(id),
    cursor: (operation, random) => one(cursors.get(operation.name), random),
    anyCursor: (random) => one([...cursors.values()].flat(), random),
    inviteCode: (random) => one(invites.slice(-6), random),
    hook: (random) => one(hooks.slice(-10), random),
    count: (kind) => (kind === 'hook' ? hooks : (ids.get(kind) ?? [])).length,
    beyond: (kind, keep) => (ids.get(kind) ?? []).slice(0, -keep),
    protect: (...given) => {
      for (const id of given) own.add(id);
    },
  };
}

const partsOf = (path: string): string[] => (path.split('?')[0] ?? '').split('/');
const idsIn = (path: string): string[] =>
  partsOf(path).filter((part) => kindOf(part) !== undefined);

/** A run that was stopped by a budget has a separate state, since only an override can continue it. */
function statusOf({ status, failure }: Record<string, unknown>): string | undefined {
  const kind = (failure as { kind?: unknown } | null | undefined)?.kind;
  if (status === 'failed' && kind === 'budget') return 'failed by budget';
  return typeof status === 'string' ? status : undefined;
}
