import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { databaseProblem } from '#api/http/database-errors.ts';

const missing = join(import.meta.dirname, 'nothing');

test('a missing socket of Postgres is an outage', async () => {
  const [error] = (await once(connect(missing), 'error')) as unknown[];
  expect(databaseProblem(error)).toMatchObject({ code: 'unavailable' });
});

test('a missing file of the service is no outage of the database', () => {
  let problem: unknown = 'none was thrown';
  try {
    readFileSync(missing);
  } catch (error) {
    problem = databaseProblem(error);
  }
  expect(problem).toBeUndefined();
});
