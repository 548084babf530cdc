import { parseArgs } from 'node:util';
import { emailInput, memberName } from '#shared/contract/people/member.ts';
import { workspaceUpdate } from '#shared/contract/people/workspace.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { generatePassword } from '#shared/operations/people/sign-in.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { runCommand, withDatabase } from './command.ts';

/**
 * `npm run workspace:create -- --name <name> --owner-email <email> [--owner-name <name>] [--json]`: creates another
 * workspace in the database of `DATABASE_URL`, or of the running `npm start`, on the plan `free`, with an owner who can
 * sign in at once and, unless `SEED` is off, demo records for test keys of the data API. The owner's password is
 * generated and printed only this once. Exits with code 1 if it was not created.
 */
const usage = 'Usage: workspace:create --name <name> --owner-email <email>';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      'owner-email': { type: 'string' },
      'owner-name': { type: 'string', default: 'Owner' },
      json: { type: 'boolean', default: false },
    },
  });
  const { name } = workspaceUpdate.safeParse({ name: values.name }).data ?? {};
  const email = emailInput.safeParse(values['owner-email']).data;
  const ownerName = memberName.safeParse(values['owner-name']).data;
  if (name === undefined) throw new Error(`--name has to be a name. ${usage}`);
  if (email === undefined) throw new Error(`--owner-email must be an email address. ${usage}`);
  if (ownerName === undefined) throw new Error(`--owner-name has to be a name. ${usage}`);
  const password = generatePassword();
  await withDatabase(async (db) => {
    const workspaceId = await createWorkspace(db, {
      name,
      owner: { name: ownerName, email, passwordHash: await hashPassword(password) },
    });
    if (loadConfig().seed) await createDemoData(db, workspaceId);
    console.log(
      values.json
        ? JSON.stringify({ workspace_id: workspaceId, email, password }, null, 2)
        : `Workspace ${workspaceId} is made. Its owner signs in as ${email} with the password ${password}`,
    );
  });
}

await runCommand({ says: 'The workspace was not created', code: 1 }, main);
