import { z } from 'zod';
import { type Pool, statement } from '#shared/db/pool.ts';

/** What the code of a step begins with, each time it is executed. */
export interface CodeBeginning {
  /** Where its clock is, in ms since 1970. */
  clock: number;
  /** 64 hexadecimal digits. */
  seed: string;
}

const beginning = z.object({ clock: z.number(), seed: z.string() });

/**
 * What the code of a step begins with: of its first execution, or of the step of the run that this one was forked from.
 * `seed`: of a first one. Undefined when the run does not exist.
 */
export const beginCode = (
  db: Pool,
  { runId, stepKey, seed }: { runId: string; stepKey: string; seed: string },
): Promise<CodeBeginning | undefined> =>
  db
    .maybeOne(statement(beginning)`
      INSERT INTO step_code (run_id, step_key, seed)
      SELECT r.id, ${stepKey}, ${seed} FROM runs r WHERE r.id = ${runId}
      ON CONFLICT (run_id, step_key) DO UPDATE SET seed = step_code.seed
      RETURNING round(extract(epoch FROM clock) * 1000)::float8 AS clock, seed
    `)
    .then((row) => row ?? undefined);

/** Keeps what the last execution has logged. */
export async function keepLog(
  db: Pool,
  { runId, stepKey, log }: { runId: string; stepKey: string; log: string },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE step_code SET log = ${log} WHERE run_id = ${runId} AND step_key = ${stepKey}
  `);
}
