import type { Command } from 'commander';
import { Ending, exitCodes } from '#cli/endings.ts';
import { collect, readInput } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';
import { importCommand, refreshCommand } from './tool-imports.ts';
import { createCommand, listCommand, recordCommand, removeCommand } from '#cli/records.ts';

const toolOf = idOf({
  noun: 'custom tool',
  prefix: 'tool',
  list: (client) => client.listTools(),
  names: ({ name }) => [name, `custom:${name}`],
});

export function toolCommands(program: Command): void {
  const tools = program.command('tools').description('list and manage custom tools');

  listCommand(tools, 'list custom tools', {
    rows: (client) => client.listTools(),
    columns: {
      Id: 'id',
      Tool: (row) => `custom:${row.name}`,
      Kind: 'kind',
      Method: (row) => (row.kind === 'http' ? row.method : null),
      Endpoint: 'endpoint_url',
      Description: 'description',
    },
  });

  recordCommand(tools, ['show', 'show a custom tool'], {
    argument: ['tool', 'id or name'],
    read: async (client, tool) => client.getTool(await toolOf(client, tool)),
  });

  createCommand(tools, ['register', 'register an endpoint that workflows can call'], {
    file: 'JSON with name, endpoint_url and other fields; - for standard input',
    create: (client, tool) => client.registerTool(tool),
  });

  importCommand(tools);
  refreshCommand(tools, toolOf);

  removeCommand(tools, ['delete', 'delete a custom tool'], {
    argument: ['tool', 'id or name'],
    remove: async (client, tool, known) => client.deleteTool(await toolOf(client, tool), known),
  });

  tools
    .command('test')
    .argument('<tool>', 'id or name')
    .description('call a custom tool once; code 1 when it fails')
    .option('-i, --input <input>', 'its arguments; as in ops run', collect)
    .action(
      inSession<{ input?: string[] }>(async ({ client, output }, [tool = ''], { input = [] }) => {
        const result = await client.testTool(await toolOf(client, tool), await readInput(input));
        output.record(result);
        const omitted = result.omitted_headers.join(', ');
        if (omitted !== '') output.note(`Not sent, as you cannot run workflows: ${omitted}`);
        if (!result.ok) throw new Ending(exitCodes.refused);
      }),
    );
}
