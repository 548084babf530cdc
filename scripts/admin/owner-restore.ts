import { parseArgs } from 'node:util';
import { restoreOwner } from '#shared/db/people/succession.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import { findDatabase } from '#scripts/running-service.ts';
import { messageOf } from '#scripts/stack/output.ts';

/**
 * `npm run owner:restore [-- --email <email>]`: for a workspace in which no member can grant permissions. Without
 * `--email`, restores the owner of the default workspace; with it, makes the active member with that email the owner of
 * their workspace. The owner gets the role admin and no overrides. Uses the database of `DATABASE_URL` or of the
 * running `npm start`. Exits with code 1 if nothing was changed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { email: { type: 'string' } } });
  const db = await connectDatabase(findDatabase(), { maxPoolSize: 1 });
  try {
    const owner = await restoreOwner(db, values.email);
    if (owner === undefined) {
      throw new Error(
        values.email === undefined
          ? 'the default workspace has no active owner; name an active member with --email <email>'
          : `no active member has the email ${values.email}`,
      );
    }
    console.log(
      `${owner.email} owns workspace ${owner.workspaceId} as an admin with every permission. ` +
        'If they cannot sign in, run: password:reset --email <email>',
    );
  } finally {
    await db.end();
  }
}

try {
  await main();
} catch (error) {
  console.error(`The owner was not restored: ${messageOf(error)}`);
  process.exitCode = 1;
}
