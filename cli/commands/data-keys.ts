import { type Command, Option } from 'commander';
import type { DataKey } from '#client/index.ts';
import { wholePositive } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';
import { dataGroup } from './data-group.ts';
import { listCommand, recordCommand, removeCommand } from '#cli/records.ts';

interface NewKey {
  mode: DataKey['mode'];
  scope: DataKey['scopes'];
  expires?: string;
  allow?: string[];
  requests?: number;
  credits?: number;
}

const dataKeyOf = idOf({
  noun: 'key',
  prefix: 'dkey',
  list: async (client) => (await client.listDataKeys()).filter(({ revoked }) => !revoked),
});

export function dataKeyCommands(program: Command): void {
  const keys = dataGroup(program)
    .command('keys')
    .description('list and manage keys of the data API');
  listAndCreate(keys);
  revoke(keys);
  usage(program);
}

function listAndCreate(keys: Command): void {
  listCommand(keys, 'list keys of the data API, newest first', {
    rows: (client) => client.listDataKeys(),
    columns: {
      Id: 'id',
      Name: 'name',
      Prefix: 'prefix',
      Scopes: (row) => row.scopes.join(' '),
      Expires: 'expires_at',
      Revoked: (row) => (row.revoked ? 'yes' : 'no'),
      'Last used': 'last_used_at',
    },
  });

  recordCommand(keys, ['show', 'show a data key'], {
    argument: ['key', 'id or name'],
    read: async (client, key) => client.getDataKey(await dataKeyOf(client, key)),
  });
  keys
    .command('create')
    .argument('<name>')
    .description('create a key of the data API; its secret is shown only this once')
    .addOption(
      new Option('--mode <mode>', 'live keys read live records, test keys read demo records')
        .choices(['live', 'test'])
        .makeOptionMandatory(),
    )
    .requiredOption('--scope <scopes...>', 'its scopes, such as entities:read')
    .option('--expires <time>', 'when it expires, ISO 8601 with a time zone')
    .option('--allow <ranges...>', 'addresses and CIDRs that can use it')
    .option('--requests <count>', 'requests per month', wholePositive)
    .option('--credits <count>', 'data credits per month', wholePositive)
    .action(
      inSession<NewKey>(async ({ client, output }, [name = ''], options) => {
        const { mode, scope, expires, allow, requests, credits } = options;
        output.record(
          await client.createDataKey({
            name,
            mode,
            scopes: scope,
            expires_at: expires,
            ip_allowlist: allow,
            monthly_request_allowance: requests,
            monthly_credit_allowance: credits,
          }),
        );
      }),
    );
}

function revoke(keys: Command): void {
  removeCommand(keys, ['revoke', 'revoke a key of the data API, effective at once'], {
    argument: ['key', 'id or name'],
    remove: async (client, key, known) => client.revokeDataKey(await dataKeyOf(client, key), known),
  });
}

function usage(program: Command): void {
  dataGroup(program)
    .command('usage')
    .description('show the usage of the data API this month')
    .action(
      inSession(async ({ client, output }) => {
        const usage = await client.getDataUsage();
        const { keys: used, requests, credits, ...rest } = usage;
        output.record(usage, {
          ...rest,
          requests: ofLimit(requests),
          credits: ofLimit(credits),
          keys: used.map((key) => `${key.name} ${ofLimit(key.credits)}`).join(', '),
        });
      }),
    );
}

const ofLimit = ({ used, limit }: { used: number; limit: number | null }): string =>
  limit === null ? String(used) : `${used} of ${limit}`;
