import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { actWithin } from '#shared/db/idempotency.ts';
import { type Db, type Pool, sql, type Tx } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase();
beforeEach(async () => {
  await db.query(sql.unsafe`DELETE FROM workspaces`);
});

const insert = (tx: Db, id: string) =>
  tx.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${id}, 'x')`);
const ids = (at: Db = db) =>
  at.anyFirst(sql.type(z.object({ id: z.string() }))`SELECT id FROM workspaces ORDER BY id`);
const around = {
  first: (tx: Tx) => insert(tx, 'first').then(() => undefined),
  last: (tx: Tx, done: { id: string }) => insert(tx, `last ${done.id}`).then(() => undefined),
};
const once = (act: (own: Pool) => Promise<{ id: string }>) => actWithin(db, act, around);

describe('an act with a key', () => {
  test('is committed with what comes first and last', async () => {
    const seen: (readonly string[])[] = [];
    const done = await once(async (own) => {
      await own.transaction((tx) => insert(tx, 'act'));
      seen.push(await ids());
      return { id: 'act' };
    });
    expect(done).toEqual({ id: 'act' });
    expect(seen).toEqual([[]]);
    expect(await ids()).toEqual(['act', 'first', 'last act']);
  });

  test('that fails after its transaction has changed nothing', async () => {
    const failed = once(async (own) => {
      await own.transaction((tx) => insert(tx, 'act'));
      throw conflict('no');
    });
    await expect(failed).rejects.toMatchObject({ code: 'conflict' });
    expect(await ids()).toEqual([]);
  });

  test('sees what it has written in its later statements, which wait for the commit', async () => {
    let later: Promise<readonly string[]> | undefined;
    await once(async (own) => {
      await own.transaction((tx) => insert(tx, 'act'));
      later = ids(own);
      return { id: 'act' };
    });
    expect(await later).toEqual(['act', 'first', 'last act']);
  });

  test('can repeat a refused transaction', async () => {
    await once(async (own) => {
      const refused = own.transaction(async (tx) => {
        await insert(tx, 'refused');
        throw conflict('no');
      });
      await expect(refused).rejects.toMatchObject({ code: 'conflict' });
      await own.transaction((tx) => insert(tx, 'act'));
      return { id: 'act' };
    });
    expect(await ids()).toEqual(['act', 'first', 'last act']);
  });

  test('gets the error of what comes last, and has changed nothing', async () => {
    const act = async (own: Pool) => {
      await own.transaction((tx) => insert(tx, 'act'));
      return { id: 'act' };
    };
    const last = async () => {
      throw conflict('last');
    };
    await expect(actWithin(db, act, { ...around, last })).rejects.toMatchObject({
      message: 'last',
    });
    expect(await ids()).toEqual([]);
  });

  test('must have a transaction', async () => {
    await expect(once(async () => ({ id: 'act' }))).rejects.toThrow('not one transaction');
  });
});
