import type { Sender } from './send.ts';
import type { Credential, Kind, State } from './state.ts';

/** What the fuzzer needs to act as the owner, outside the counted requests. */
export interface House {
  sender: Sender;
  state: State;
  owner: Credential;
}

/** The number of objects of each kind to keep: workspaces have limits, and each schedule starts runs. */
const kept: readonly (readonly [Kind, string, number])[] = [
  ['bud', '/api/budgets', 2],
  ['sch', '/api/schedules', 4],
  ['end', '/api/webhooks', 6],
  ['wf', '/api/workflows', 60],
  ['tpl', '/api/templates', 20],
  ['tool', '/api/tools', 20],
  ['mem', '/api/members', 20],
  ['key', '/api/keys', 20],
  ['dkey', '/api/data/keys', 20],
  ['feed', '/api/data/feeds', 12],
  ['src', '/api/data/sources', 20],
];
const AT_ONCE = 20;

export const json = { 'content-type': 'application/json' };

/** Reverts changes that would make later requests fail: the plan, the policies, and too many objects of a kind. */
export async function keepHouse(house: House): Promise<void> {
  const { sender, state, owner } = house;
  await relax(house);
  for (const [kind, path, keep] of kept) {
    for (const id of state.beyond(kind, keep).slice(0, AT_ONCE)) {
      await sender.send({ method: 'DELETE', path: `${path}/${id}`, headers: owner.headers });
      state.forget(`${path}/${id}`);
    }
  }
}

/** Restores all permissions of the owner. */
export async function relax({ sender, owner }: House): Promise<void> {
  const put = (path: string, body: unknown) =>
    sender.send({
      method: 'PUT',
      path,
      headers: { ...owner.headers, ...json },
      bytes: Buffer.from(JSON.stringify(body)),
    });
  await put('/api/workspace/plan', { plan: 'enterprise' });
  await put('/api/workspace/policies', {});
}
