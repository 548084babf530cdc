import type { Command } from 'commander';
import type { Client, Role } from '#client/index.ts';
import { idOf, memberOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { showCommand } from '#cli/show.ts';

const keyOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'key',
    prefix: 'key',
    list: async () => (await client.listApiKeys()).filter(({ revoked }) => !revoked),
    names: ({ name }) => [name],
  });

export function peopleCommands(program: Command): void {
  const members = program.command('members').description('list and manage members');
  listAndAdmit(members);
  changeAndRemove(members);
  const keys = program.command('keys').description('list and manage API keys');
  keyCommands(keys);
}

function listAndAdmit(members: Command): void {
  members
    .command('list')
    .description('list members')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listMembers(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Email: (row) => row.email,
          Role: (row) => row.role,
          Status: (row) => row.status,
        });
      }),
    );

  showCommand(members, {
    noun: 'a member and their permissions',
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

  members
    .command('renew')
    .argument('<member>', 'id or email')
    .description('replace the code of an invitation; the previous one becomes invalid')
    .action(
      inSession(async ({ client, output }, [member = '']) => {
        const renewed = await client.renewInvite(await memberOf(client, member));
        const { id, name, invite_code, invite_expires_at } = renewed;
        output.record(renewed, { id, name, invite_code, invite_expires_at });
      }),
    );

  members
    .command('approve')
    .argument('<member>', 'id or email')
    .description('approve a sign-up')
    .action(
      inSession(async ({ client, output }, [member = '']) => {
        const approved = await client.approveMember(await memberOf(client, member));
        const { id, name, status } = approved;
        output.record(approved, { id, name, status });
      }),
    );
}

function changeAndRemove(members: Command): void {
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

  members
    .command('remove')
    .argument('<member>', 'id or email')
    .description('remove a member; keys linked to them are revoked')
    .addOption(ifMatch('member'))
    .action(
      inSession(async ({ client, output, known }, [member = '']) => {
        await client.removeMember(await memberOf(client, member), known);
        output.note(`Removed ${member}`);
      }),
    );
}

function keyCommands(keys: Command): void {
  keys
    .command('list')
    .description('list API keys, newest first')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listApiKeys(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Prefix: (row) => row.prefix,
          Role: (row) => row.role,
          Member: (row) => row.member_id,
          Revoked: (row) => (row.revoked ? 'yes' : 'no'),
          'Last used': (row) => row.last_used_at,
        });
      }),
    );

  showCommand(keys, {
    noun: 'an API key',
    argument: ['key', 'id or name'],
    read: async (client, key) => client.getApiKey(await keyOf(client, key)),
  });
  keys
    .command('create')
    .argument('<name>')
    .description('create an API key; its secret is shown only this once')
    .option('--role <role>', 'admin, editor or viewer')
    .option('--member <member>', 'link it to a member; it has their permissions')
    .action(
      inSession<{ role?: Role; member?: string }>(
        async ({ client, output }, [name = ''], options) => {
          const { role, member } = options;
          output.record(
            await client.createApiKey({
              name,
              ...(role === undefined ? {} : { role }),
              ...(member === undefined ? {} : { member_id: await memberOf(client, member) }),
            }),
          );
        },
      ),
    );

  keys
    .command('revoke')
    .argument('<key>', 'id or name')
    .description('revoke an API key, effective at once')
    .addOption(ifMatch('key'))
    .action(
      inSession(async ({ client, output, known }, [key = '']) => {
        await client.revokeApiKey(await keyOf(client, key), known);
        output.note(`Revoked ${key}`);
      }),
    );
}
