import type { Command } from 'commander';
import { collect } from '#cli/input.ts';
import { readSecretText } from '#cli/secrets.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { listCommand, recordCommand, removeCommand } from '#cli/records.ts';

export function secretCommands(program: Command): void {
  const secrets = program
    .command('secrets')
    .description('list and manage secrets that workflows send to other services');

  listCommand(secrets, 'list secrets, without their values', {
    rows: (client) => client.listSecrets(),
    columns: {
      Name: 'name',
      'Allowed hosts': (row) => row.allowed_hosts.join(' '),
      Description: 'description',
      Updated: 'updated_at',
      'Last used': 'last_used_at',
    },
  });

  recordCommand(secrets, ['show', 'show a secret, without its value'], {
    argument: ['name', 'such as CRM_API_KEY'],
    read: (client, name) => client.getSecret(name),
  });

  secrets
    .command('set')
    .argument('<name>', 'such as CRM_API_KEY')
    // Process arguments are visible to others on the machine, and stay in the shell's history.
    .description('create or replace a secret; its value is read from standard input')
    .requiredOption(
      '--host <host>',
      'a host that may receive it: api.example.com, *.example.com or host:8443; can be repeated',
      collect,
    )
    .option('--description <text>', 'what it is for')
    .addOption(ifMatch('secret'))
    .action(
      inSession<{ host: string[]; description?: string }>(
        async ({ client, output, known }, [name = ''], { host, description }) => {
          const value = await readSecretText('Value');
          output.record(
            await client.putSecret(
              name,
              {
                value,
                allowed_hosts: host,
                description,
              },
              known,
            ),
          );
        },
      ),
    );

  removeCommand(secrets, ['delete', 'delete a secret; steps that need it fail'], {
    noun: 'secret',
    argument: ['name'],
    remove: (client, name, known) => client.deleteSecret(name, known),
  });
}
