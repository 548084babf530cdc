import type { Command } from 'commander';
import type { BodyOf } from '#client/index.ts';
import { misuse, refusal } from '#cli/endings.ts';
import { readJsonObject } from '#cli/input.ts';
import { listCommand, recordCommand, removeCommand } from '#cli/records.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';

const connectionOf = idOf({
  noun: 'connection',
  prefix: 'con',
  list: (client) => client.listConnections(),
});

interface NewConnection {
  file?: string;
  name?: string;
  mcpServer?: string;
}

/** The service validates the fields of a file. */
async function inputOf({
  file,
  name,
  mcpServer,
}: NewConnection): Promise<BodyOf<'POST /api/connections'>> {
  if (file !== undefined) {
    if (name !== undefined || mcpServer !== undefined) {
      throw misuse('name either --file, or --name and --mcp-server');
    }
    return (await readJsonObject(file)) as BodyOf<'POST /api/connections'>;
  }
  if (name === undefined || mcpServer === undefined) {
    throw misuse('name either --file, or --name and --mcp-server');
  }
  return { name, mcp_server_url: mcpServer };
}

export function connectionCommands(program: Command): void {
  const connections = program
    .command('connections')
    .description('list and manage OAuth connections to other services');

  listCommand(connections, 'list connections, with your own status where members own them', {
    rows: (client) => client.listConnections(),
    columns: {
      Id: 'id',
      Name: 'name',
      Owner: 'owner',
      Status: 'status',
      'Allowed hosts': (row) => row.allowed_hosts.join(' '),
      Expires: 'expires_at',
      'Last used': 'last_used_at',
    },
  });

  recordCommand(connections, ['show', 'show a connection, without its secrets'], {
    argument: ['connection', 'id or name'],
    read: async (client, connection) =>
      client.getConnection(await connectionOf(client, connection)),
  });

  connections
    .command('presets')
    .description('list well-known services, which need only a name, a client and its secret')
    .action(
      inSession(async ({ client, output }) =>
        output.list(await client.listConnectionPresets(), {
          Preset: 'id',
          Service: 'label',
          Scopes: (row) => row.scopes.join(' '),
          'Allowed hosts': (row) => row.allowed_hosts.join(' '),
        }),
      ),
    );

  connections
    .command('create')
    .description('create a connection')
    // Its fields may contain credentials, which must not be process arguments.
    .option(
      '-f, --file <file>',
      'JSON with name, client_id, client_secret, preset and other fields; - for standard input',
    )
    .option('-n, --name <name>', 'name of a connection to an MCP server')
    .option('--mcp-server <url>', 'MCP server that requires sign-in: its metadata gives the rest')
    .action(
      inSession<NewConnection>(async ({ client, output }, _args, given) => {
        output.record(await client.createConnection(await inputOf(given)));
      }),
    );

  connections
    .command('update')
    .argument('<connection>', 'id or name')
    .description('change the fields in a file; other fields stay')
    .requiredOption('-f, --file <file>', 'JSON; - for standard input')
    .addOption(ifMatch('connection'))
    .action(
      inSession<{ file: string }>(
        async ({ client, output, known }, [connection = ''], { file }) => {
          const id = await connectionOf(client, connection);
          output.record(await client.updateConnection(id, await readJsonObject(file), known));
        },
      ),
    );

  connections
    .command('sign-in')
    .argument('<connection>', 'id or name')
    .description('print the page on which to sign in: a sign-in begins and ends in one browser')
    .action(
      inSession(async ({ client, output }, [connection = '']) => {
        const { id, name, callback_url } = await client.getConnection(
          await connectionOf(client, connection),
        );
        if (callback_url === null) throw refusal(`Nobody signs in to ${name}`);
        const [address = ''] = callback_url.split('/api/');
        output.record({ name, sign_in_at: `${address}/connections?connection=${id}` });
      }),
    );

  connections
    .command('disconnect')
    .argument('<connection>', 'id or name')
    .description("delete the tokens of your own account, or of the workspace's")
    .action(
      inSession(async ({ client, output }, [connection = '']) => {
        const id = await connectionOf(client, connection);
        output.record(await client.disconnectConnection(id));
      }),
    );

  removeCommand(connections, ['delete', 'delete a connection; steps that need it fail'], {
    noun: 'connection',
    argument: ['connection', 'id or name'],
    remove: async (client, connection, known) =>
      client.deleteConnection(await connectionOf(client, connection), known),
  });
}
