import type { Command } from 'commander';
import type { BodyOf, Client } from '../../client/index.ts';
import { Ending, exitCodes } from '../endings.ts';
import { collect, readInput, readJsonObject } from '../input.ts';
import { idOf } from '../references.ts';
import { inSession } from '../session.ts';

const toolOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'custom tool',
    prefix: 'tool',
    list: () => client.listTools(),
    names: ({ name }) => [name, `custom:${name}`],
  });

export function toolCommands(program: Command): void {
  const tools = program.command('tools').description('list and manage custom tools');

  tools
    .command('list')
    .description('list custom tools')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listTools(), {
          Id: (row) => row.id,
          Tool: (row) => `custom:${row.name}`,
          Kind: (row) => row.kind,
          Method: (row) => (row.kind === 'http' ? row.method : null),
          Endpoint: (row) => row.endpoint_url,
          Description: (row) => row.description,
        });
      }),
    );

  tools
    .command('register')
    .description('register an endpoint that workflows can call')
    // Headers may contain credentials, which must not be process arguments.
    .requiredOption(
      '-f, --file <file>',
      'JSON with name, endpoint_url and other fields; - for standard input',
    )
    .action(
      inSession<{ file: string }>(async ({ client, output }, _args, { file }) => {
        const tool = (await readJsonObject(file)) as unknown as BodyOf<'POST /api/tools'>;
        output.record(await client.registerTool(tool));
      }),
    );

  tools
    .command('delete')
    .argument('<tool>', 'id or name')
    .description('delete a custom tool')
    .action(
      inSession(async ({ client, output }, [tool = '']) => {
        await client.deleteTool(await toolOf(client, tool));
        output.note(`Deleted ${tool}`);
      }),
    );

  tools
    .command('test')
    .argument('<tool>', 'id or name')
    .description('call a custom tool once; code 1 when it fails')
    .option('-i, --input <input>', 'its arguments; as in ops run', collect)
    .action(
      inSession<{ input?: string[] }>(async ({ client, output }, [tool = ''], { input = [] }) => {
        const result = await client.testTool(await toolOf(client, tool), await readInput(input));
        output.record(result);
        if (!result.ok) throw new Ending(exitCodes.refused);
      }),
    );
}
