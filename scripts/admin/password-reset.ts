import { parseArgs } from 'node:util';
import { findAccount, setPassword } from '#shared/db/people/sign-ins.ts';
import { generatePassword } from '#shared/operations/people/sign-in.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { runCommand, withDatabase } from './command.ts';

/**
 * `npm run password:reset -- --email <email>`: sets a new password for an active member, in any workspace, in the
 * database of `DATABASE_URL`, or of the running `npm start`, and prints it once. Ends all their sessions. It is for
 * members who lost their password and have no admin to reset it. Exits with code 1 if nothing was changed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { email: { type: 'string' } } });
  const { email } = values;
  if (email === undefined) {
    throw new Error('Usage: password:reset --email <email>');
  }
  const password = generatePassword();
  await withDatabase(async (db) => {
    const account = await findAccount(db, email);
    const passwordHash = await hashPassword(password);
    const set =
      account !== undefined &&
      (await setPassword(db, { memberId: account.id, passwordHash, onlyFirst: false }));
    if (!set) throw new Error(`no active member has the email ${email}`);
    console.log(`The password of ${account.email} is now: ${password}`);
  });
}

await runCommand({ says: 'The password was not reset', code: 1 }, main);
