import { parseArgs } from 'node:util';
import { connectDatabase } from '#shared/db/pool.ts';
import { findAccount, setPassword } from '#shared/db/people/sign-ins.ts';
import { generatePassword } from '#shared/operations/people/sign-in.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { findDatabase } from '#scripts/running-service.ts';
import { messageOf } from '#scripts/stack/output.ts';

/**
 * `npm run password:reset -- --email <email>`: sets a new password for an active member, in any workspace, in the
 * database of `DATABASE_URL`, or of the running `npm start`, and prints it once. Ends all their sessions. It is for
 * members who lost their password and have no admin to reset it. Exits with code 1 if nothing was changed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { email: { type: 'string' } } });
  if (values.email === undefined) {
    throw new Error('Usage: password:reset --email <email>');
  }
  const password = generatePassword();
  const db = await connectDatabase(findDatabase(), { maxPoolSize: 1 });
  try {
    const account = await findAccount(db, values.email);
    const passwordHash = await hashPassword(password);
    const set =
      account !== undefined &&
      (await setPassword(db, { memberId: account.id, passwordHash, onlyFirst: false }));
    if (!set) throw new Error(`no active member has the email ${values.email}`);
    console.log(`The password of ${account.email} is now: ${password}`);
  } finally {
    await db.end();
  }
}

try {
  await main();
} catch (error) {
  console.error(`The password was not reset: ${messageOf(error)}`);
  process.exitCode = 1;
}
