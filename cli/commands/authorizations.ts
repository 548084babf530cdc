import type { Command } from 'commander';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';

const authorizationOf = idOf({
  noun: 'client',
  prefix: 'auth',
  list: (client) => client.listAuthorizations(),
  names: ({ client_name }) => [client_name],
});

/** Clients that members let use `/api/mcp` for them. */
export function authorizationCommands(program: Command): void {
  const authorizations = program
    .command('authorizations')
    .description('list and revoke the clients that can use /api/mcp for you');

  authorizations
    .command('list')
    .description('list the clients, newest first')
    .option('--all', 'those of all members')
    .action(
      inSession<{ all?: boolean }>(async ({ client, output }, _args, { all }) => {
        const query = all === true ? ({ of: 'workspace' } as const) : {};
        output.list(await client.listAuthorizations(query), {
          Id: 'id',
          Client: 'client_name',
          Host: 'client_host',
          Member: 'member_name',
          Scopes: ({ scopes }) => scopes.join(' '),
          Created: 'created_at',
          'Last used': 'last_used_at',
        });
      }),
    );

  authorizations
    .command('revoke')
    .argument('<client>', 'id of the authorization, or name of the client')
    .description('end all access of a client, effective at once')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        await client.revokeAuthorization(await authorizationOf(client, reference));
        output.note(`Revoked ${reference}`);
      }),
    );
}
