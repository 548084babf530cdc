import type { Command } from 'commander';
import type { ToolImport } from '#client/index.ts';
import { Ending, exitCodes } from '#cli/endings.ts';
import { collect, readInput, readJsonObject } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';
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

  tools
    .command('import')
    .argument('<server-url>', 'address of an MCP server')
    .description('register the tools of an MCP server; code 1 when some are skipped')
    .option('-n, --name <name>', 'only this tool of the server; can be repeated', collect)
    .option('-p, --prefix <prefix>', 'what the names begin with here')
    .option('-l, --list', 'import nothing: say what an import would do')
    // Headers may contain credentials, which must not be process arguments.
    .option('--headers <file>', 'JSON object with the headers to send; - for standard input')
    .action(
      inSession<ImportOptions>(async ({ client, output }, [url = ''], given) => {
        const { name: names, prefix } = given;
        const headers =
          given.headers === undefined
            ? undefined
            : ((await readJsonObject(given.headers)) as Record<string, string>);
        const result = await client.importTools({
          server_url: url,
          names,
          prefix,
          headers,
          ...(given.list === true ? { only_list: true } : {}),
        });
        if (output.format === 'json') output.record(result);
        else {
          const columns = {
            Outcome: 'outcome',
            Tool: 'tool',
            'On the server': 'on_server',
          } as const;
          output.list(outcomesOf(result), { ...columns, Reason: 'reason' });
        }
        if (result.skipped.length > 0) throw new Ending(exitCodes.refused);
      }),
    );

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

interface ImportOptions {
  name?: string[];
  prefix?: string;
  headers?: string;
  list?: boolean;
}

interface Outcome {
  outcome: string;
  tool?: string;
  on_server: string;
  reason?: string;
}

function outcomesOf({ skipped, listed = [], ...imported }: ToolImport): Outcome[] {
  const shown = listed.map(({ state, name, mcp_tool, reason }) => ({
    outcome: state,
    ...(name === '' ? {} : { tool: `custom:${name}` }),
    on_server: mcp_tool,
    ...(reason === undefined ? {} : { reason }),
  }));
  const done = Object.entries(imported).flatMap(([outcome, tools]) =>
    tools.map(({ name, mcp_tool }) => ({ outcome, tool: `custom:${name}`, on_server: mcp_tool })),
  );
  const refused = skipped.map(({ name, reason }) => ({
    outcome: 'skipped',
    on_server: name,
    reason,
  }));
  return [...shown, ...done, ...refused];
}
