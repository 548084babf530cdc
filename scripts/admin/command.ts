import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { findDatabase } from '#scripts/running-service.ts';
import { messageOf } from '#scripts/stack/output.ts';

/** What a command of operators prints if it throws, before the reason, and the code it then exits with. */
interface Failure {
  says: string;
  code: number;
}

/** Runs a command of operators. If it returns a number, exits with that code. */
export async function runCommand(
  { says, code }: Failure,
  command: () => Promise<unknown>,
): Promise<void> {
  try {
    const returned = await command();
    if (typeof returned === 'number') process.exitCode = returned;
  } catch (error) {
    console.error(`${says}: ${messageOf(error)}`);
    process.exitCode = code;
  }
}

/** Works on the database of `DATABASE_URL`, or of the running `npm start`. */
export async function withDatabase<Result>(work: (db: Pool) => Promise<Result>): Promise<Result> {
  const db = await connectDatabase(findDatabase(), { maxPoolSize: 1 });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
