import type { Command } from 'commander';
import type { Role } from '#client/index.ts';
import { idOf, memberOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { listCommand, recordCommand, removeCommand } from '#cli/records.ts';

const keyOf = idOf({
  noun: 'key',
  prefix: 'key',
  list: async (client) => (await client.listApiKeys()).filter(({ revoked }) => !revoked),
});

export function peopleCommands(program: Command): void {
  const members = program.command('members').description('list and manage members');

  listCommand(members, 'list members', {
    rows: (client) => client.listMembers(),
    columns: { Id: 'id', Name: 'name', Email: 'email', Role: 'role', Status: 'status' },
  });

  recordCommand(members, ['show', 'show a member and their permissions'], {
    argument: ['member', 'id or email'],
    read: async (client, member) => client.getMember(await memberOf(client, member)),
  });

  members
    .command('invite')
    .argument('<email>')
    .description('invite a member; prints their invitation code')
    .requiredOption('--name <name>', 'their name')
    .option('--role <role>', 'admin, editor or viewer', 'viewer')
    .action(
      inSession<{ name: string; role: Role }>(async ({ client, output }, [email = ''], options) => {
        output.record(await client.inviteMember({ email, ...options }));
      }),
    );

  recordCommand(
    members,
    ['renew', 'replace the code of an invitation; the previous one becomes invalid'],
    {
      argument: ['member', 'id or email'],
      read: async (client, member) => client.renewInvite(await memberOf(client, member)),
      fields: ({ id, name, invite_code, invite_expires_at }) => ({
        id,
        name,
        invite_code,
        invite_expires_at,
      }),
    },
  );

  recordCommand(members, ['approve', 'approve a sign-up'], {
    argument: ['member', 'id or email'],
    read: async (client, member) => client.approveMember(await memberOf(client, member)),
    fields: ({ id, name, status }) => ({ id, name, status }),
  });

  members
    .command('role')
    .argument('<member>', 'id or email')
    .argument('<role>', 'admin, editor or viewer')
    .description("change a member's role")
    .addOption(ifMatch('member'))
    .action(
      inSession(async ({ client, output, known }, [reference = '', role = '']) => {
        const member = await client.changeRole(
          await memberOf(client, reference),
          role as Role,
          known,
        );
        output.record(member, { id: member.id, name: member.name, role: member.role });
      }),
    );

  removeCommand(members, ['remove', 'remove a member; keys linked to them are revoked'], {
    argument: ['member', 'id or email'],
    remove: async (client, member, known) =>
      client.removeMember(await memberOf(client, member), known),
  });

  const keys = program.command('keys').description('list and manage API keys');

  listCommand(keys, 'list API keys, newest first', {
    rows: (client) => client.listApiKeys(),
    columns: {
      Id: 'id',
      Name: 'name',
      Prefix: 'prefix',
      Role: 'role',
      Member: 'member_id',
      Revoked: (row) => (row.revoked ? 'yes' : 'no'),
      'Last used': 'last_used_at',
    },
  });

  recordCommand(keys, ['show', 'show an API key'], {
    argument: ['key', 'id or name'],
    read: async (client, key) => client.getApiKey(await keyOf(client, key)),
  });

  keys
    .command('create')
    .argument('<name>')
    .description('create an API key; its secret is shown only this once')
    .option('--role <role>', 'admin, editor or viewer')
    .option('--member <member>', 'link it to a member; it has their permissions')
    .option('--no-decide', 'it decides no gate and publishes nothing')
    .action(
      inSession<{ role?: Role; member?: string; decide: boolean }>(
        async ({ client, output }, [name = ''], options) => {
          const { role, member, decide } = options;
          output.record(
            await client.createApiKey({
              name,
              role,
              ...(member === undefined ? {} : { member_id: await memberOf(client, member) }),
              ...(decide ? {} : { decide }),
            }),
          );
        },
      ),
    );

  removeCommand(keys, ['revoke', 'revoke an API key, effective at once'], {
    argument: ['key', 'id or name'],
    remove: async (client, key, known) => client.revokeApiKey(await keyOf(client, key), known),
  });
}
