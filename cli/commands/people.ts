import type { Command } from 'commander';
import type { Role } from '../../client/index.ts';
import { inSession } from '../session.ts';

export function peopleCommands(program: Command): void {
  const members = program.command('members').description('see and change who is in the workspace');

  members
    .command('list')
    .description('list members')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listMembers(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          'E-mail': (row) => row.email,
          Role: (row) => row.role,
          Status: (row) => row.status,
        });
      }),
    );

  members
    .command('invite')
    .argument('<e-mail>')
    .description('invite somebody; the answer holds their invitation code')
    .requiredOption('--name <name>', 'their name')
    .option('--role <role>', 'admin, editor or viewer', 'viewer')
    .action(
      inSession<{ name: string; role: Role }>(async ({ client, output }, [email = ''], options) => {
        output.record(await client.inviteMember({ email, ...options }));
      }),
    );

  members
    .command('approve')
    .argument('<member>')
    .description('let in who has signed up')
    .action(
      inSession(async ({ client, output }, [memberId = '']) => {
        const member = await client.approveMember(memberId);
        const { id, name, status } = member;
        output.record(member, { id, name, status });
      }),
    );

  members
    .command('role')
    .argument('<member>')
    .argument('<role>', 'admin, editor or viewer')
    .description('give a member another role')
    .action(
      inSession(async ({ client, output }, [memberId = '', role = '']) => {
        const member = await client.changeRole(memberId, role as Role);
        output.record(member, { id: member.id, name: member.name, role: member.role });
      }),
    );

  members
    .command('remove')
    .argument('<member>')
    .description('remove a member; keys linked to them are revoked')
    .action(
      inSession(async ({ client, output }, [memberId = '']) => {
        await client.removeMember(memberId);
        output.tell(`Removed ${memberId}`);
      }),
    );

  const keys = program.command('keys').description('see and change API keys');

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

  keys
    .command('create')
    .argument('<name>')
    .description('make an API key; its secret is shown this once')
    .option('--role <role>', 'admin, editor or viewer')
    .option('--member <id>', 'link it to a member, whose permissions it follows')
    .action(
      inSession<{ role?: Role; member?: string }>(
        async ({ client, output }, [name = ''], options) => {
          const { role, member } = options;
          output.record(
            await client.createApiKey({
              name,
              ...(role === undefined ? {} : { role }),
              ...(member === undefined ? {} : { member_id: member }),
            }),
          );
        },
      ),
    );

  keys
    .command('revoke')
    .argument('<key>')
    .description('make an API key useless, at once and for good')
    .action(
      inSession(async ({ client, output }, [keyId = '']) => {
        await client.revokeApiKey(keyId);
        output.tell(`Revoked ${keyId}`);
      }),
    );
}
