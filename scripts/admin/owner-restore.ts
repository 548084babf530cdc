import { parseArgs } from 'node:util';
import { restoreOwner } from '#shared/db/people/succession.ts';
import { runCommand, withDatabase } from './command.ts';

/**
 * `npm run owner:restore [-- --email <email>]`: for a workspace in which no member can grant permissions. Without
 * `--email`, restores the owner of the default workspace; with it, makes the active member with that email the owner of
 * their workspace. The owner gets the role admin and no overrides. Uses the database of `DATABASE_URL` or of the
 * running `npm start`. Exits with code 1 if nothing was changed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { email: { type: 'string' } } });
  await withDatabase(async (db) => {
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
  });
}

await runCommand({ says: 'The owner was not restored', code: 1 }, main);
