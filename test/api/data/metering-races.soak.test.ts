import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { DataKeyInput } from '#shared/contract/data/key.ts';
import { chargeBatch, findTaken, type Payer, takeCredits } from '#shared/db/data/metering.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import type { PlanName } from '#shared/people/plans.ts';
import { beside } from '#test/support/lock-waits.ts';
import { useTestApi, type TestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import { addWorkspace } from './records.ts';

// A key, its allowance or the plan changes while a request, or its charge, waits for the accounts.

const api = useTestApi();

const run = (statement: FragmentSqlToken) => api.db.query(sql.unsafe`${statement}`);

interface Customer {
  payer: Payer;
  get(): ReturnType<TestApi['call']>;
}

/** A workspace with a key that has made one request, so that the accounts exist. */
async function addCustomer(plan: PlanName, input: Partial<DataKeyInput> = {}): Promise<Customer> {
  const place = await addWorkspace(api.db, plan);
  const { workspaceId } = place;
  const key = await addDataKey(place, input);
  const get = () => api.call('GET', '/v1/usage', undefined, key.headers);
  expect((await get()).status).toBe(200);
  const month = await api.db.oneFirst(sql.type(z.object({ month: z.string() }))`
    SELECT month::text FROM data_key_months WHERE key_id = ${key.id}`);
  return { payer: { workspaceId, keyId: key.id, month }, get };
}

const setAllowance = (
  { payer: { keyId } }: Customer,
  meter: 'request' | 'credit',
  allowance: number | null,
) =>
  run(sql.fragment`
    UPDATE data_keys SET ${sql.identifier([`monthly_${meter}_allowance`])} = ${allowance}::bigint
    WHERE id = ${keyId}`);
const setPlan = ({ payer: { workspaceId } }: Customer, plan: PlanName) =>
  run(sql.fragment`UPDATE workspaces SET plan = ${plan} WHERE id = ${workspaceId}`);

/** The rows to lock. The lock holder also updates them, so that the waiting statement must read them again. */
const accounts: [string, (customer: Customer) => FragmentSqlToken][] = [
  [
    "the workspace's account",
    ({ payer: { workspaceId } }) => sql.fragment`
      UPDATE data_months SET records = records + 1 WHERE workspace_id = ${workspaceId}`,
  ],
  [
    "the key's account",
    ({ payer: { keyId } }) => sql.fragment`
      UPDATE data_key_months SET records = records + 1 WHERE key_id = ${keyId}`,
  ],
  [
    "the workspace's account, which is left as it is",
    ({ payer: { workspaceId } }) => sql.fragment`
      SELECT FROM data_months WHERE workspace_id = ${workspaceId} FOR UPDATE`,
  ],
];

describe.each(accounts)('while waiting for %s', (_account, hold) => {
  describe('a charge', () => {
    const charge = (credits: number) => ({ requestId: 'r', operation: 'x', credits, records: 1 });
    const chargeWhile = (customer: Customer, meanwhile: () => Promise<unknown>) =>
      beside(
        api.db,
        hold(customer),
        () => takeCredits(api.db, customer.payer, chargeBatch([charge(3), charge(2)])),
        meanwhile,
      );

    test('is refused beyond a lowered allowance of the key', async () => {
      const customer = await addCustomer('enterprise', { monthly_credit_allowance: 100 });
      const charged = await chargeWhile(customer, () => setAllowance(customer, 'credit', 2));
      expect(charged).toMatchObject([
        { taken: false, credits: { key: { used: 0, limit: 2 } } },
        { taken: true, credits: { key: { used: 2, limit: 2 } } },
      ]);
    });

    test('succeeds when the limit of its key is removed', async () => {
      const customer = await addCustomer('enterprise', { monthly_credit_allowance: 0 });
      const charged = await chargeWhile(customer, () => setAllowance(customer, 'credit', null));
      expect(charged).toMatchObject([
        { taken: true, credits: { key: { used: 3, limit: null } } },
        { taken: true, credits: { key: { used: 5, limit: null } } },
      ]);
    });

    test('is refused beyond the limit of a smaller plan', async () => {
      const customer = await addCustomer('starter');
      const { workspaceId } = customer.payer;
      await run(sql.fragment`
        UPDATE data_months SET credits = 4_998 WHERE workspace_id = ${workspaceId}`);
      const charged = await chargeWhile(customer, () => setPlan(customer, 'free'));
      expect(charged).toMatchObject([
        { taken: false, plan: 'free', credits: { plan: { used: 4_998, limit: 5_000 } } },
        { taken: true, plan: 'free', credits: { plan: { used: 5_000, limit: 5_000 } } },
      ]);
    });
  });

  describe('a request', () => {
    const getWhile = (customer: Customer, meanwhile: () => Promise<unknown>) =>
      beside(api.db, hold(customer), customer.get, meanwhile);
    const counted = ({ payer: { workspaceId, keyId } }: Customer) =>
      api.db.one(sql.type(z.object({ plan: z.number(), key: z.number() }))`
        SELECT m.requests AS plan, k.requests AS key FROM data_months m, data_key_months k
        WHERE m.workspace_id = ${workspaceId} AND k.key_id = ${keyId}`);

    test('is refused, and not counted, when its key is revoked', async () => {
      const customer = await addCustomer('enterprise');
      const { status, body } = await getWhile(customer, () =>
        run(
          sql.fragment`UPDATE data_keys SET revoked_at = now() WHERE id = ${customer.payer.keyId}`,
        ),
      );
      expect([status, body.detail]).toEqual([401, 'The API key is invalid, expired or revoked']);
      expect(await counted(customer)).toEqual({ plan: 1, key: 1 });
    });

    test('is refused when the allowance of its key is lowered', async () => {
      const customer = await addCustomer('enterprise', { monthly_request_allowance: 100 });
      const { status, body } = await getWhile(customer, () => setAllowance(customer, 'request', 1));
      expect([status, body.detail]).toEqual([
        429,
        'Monthly request allowance exhausted (1/1 of this key)',
      ]);
      expect(await counted(customer)).toEqual({ plan: 2, key: 2 });
    });

    test('is refused when a smaller plan is already used up', async () => {
      const customer = await addCustomer('starter');
      const { workspaceId } = customer.payer;
      await run(sql.fragment`
        UPDATE data_months SET requests = 5_000 WHERE workspace_id = ${workspaceId}`);
      const { status, body } = await getWhile(customer, () => setPlan(customer, 'free'));
      expect([status, body.detail]).toEqual([
        429,
        'Monthly request allowance exhausted (5000/5000 on the free plan)',
      ]);
    });

    test('succeeds when the plan is upgraded', async () => {
      const customer = await addCustomer('free');
      const { workspaceId } = customer.payer;
      await run(sql.fragment`
        UPDATE data_months SET requests = 5_000 WHERE workspace_id = ${workspaceId}`);
      const { status, headers } = await getWhile(customer, () => setPlan(customer, 'starter'));
      expect([status, headers['ratelimit-remaining']]).toEqual([200, '44999']);
    });
  });
});

test('findTaken waits for locked accounts and reports their new state', async () => {
  const customer = await addCustomer('starter', { monthly_credit_allowance: 100 });
  const { payer } = customer;
  const batch = chargeBatch([{ requestId: 'r', operation: 'x', credits: 3, records: 1 }]);
  await takeCredits(api.db, payer, batch);
  const found = await beside(
    api.db,
    sql.fragment`
      WITH plan AS (
        UPDATE data_months SET credits = credits + 7 WHERE workspace_id = ${payer.workspaceId})
      UPDATE data_key_months SET credits = credits + 7 WHERE key_id = ${payer.keyId}`,
    () => findTaken(api.db, payer, batch),
    async () => {
      await setPlan(customer, 'free');
      await setAllowance(customer, 'credit', 20);
    },
  );
  expect(found).toEqual([
    {
      taken: true,
      plan: 'free',
      credits: { plan: { used: 10, limit: 5_000 }, key: { used: 10, limit: 20 } },
    },
  ]);
});
