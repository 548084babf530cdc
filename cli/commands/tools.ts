import type { Command } from 'commander';
import type { BodyOf, Client, ToolImport } from '#client/index.ts';
import { Ending, exitCodes } from '#cli/endings.ts';
import { collect, readInput, readJsonObject } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { showCommand } from '#cli/show.ts';

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

  showCommand(tools, {
    noun: 'a custom tool',
    argument: ['tool', 'id or name'],
    read: async (client, tool) => client.getTool(await toolOf(client, tool)),
  });
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

  importCommand(tools);

  tools
    .command('delete')
    .argument('<tool>', 'id or name')
    .description('delete a custom tool')
    .addOption(ifMatch('tool'))
    .action(
      inSession(async ({ client, output, known }, [tool = '']) => {
        await client.deleteTool(await toolOf(client, tool), known);
        output.note(`Deleted ${tool}`);
      }),
    );
  testCommand(tools);
}

function testCommand(tools: Command): void {
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
}

function importCommand(tools: Command): void {
  tools
    .command('import')
    .argument('<server-url>', 'address of an MCP server')
    .description('register the tools of an MCP server; code 1 when some are skipped')
    .option('-n, --name <name>', 'only this tool of the server; can be repeated', collect)
    .option('-p, --prefix <prefix>', 'what the names begin with here')
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
          ...(names && { names }),
          ...(prefix !== undefined && { prefix }),
          ...(headers && { headers }),
        });
        if (output.format === 'json') output.record(result);
        else output.list(outcomesOf(result), outcomeColumns);
        if (result.skipped.length > 0) throw new Ending(exitCodes.refused);
      }),
    );
}

interface Outcome {
  outcome: string;
  tool?: string;
  on_server: string;
  reason?: string;
}

function outcomesOf({ skipped, ...imported }: ToolImport): Outcome[] {
  const done = Object.entries(imported).flatMap(([outcome, tools]) =>
    tools.map(({ name, mcp_tool }) => ({ outcome, tool: `custom:${name}`, on_server: mcp_tool })),
  );
  const refused = skipped.map(({ name, reason }) => ({
    outcome: 'skipped',
    on_server: name,
    reason,
  }));
  return [...done, ...refused];
}

const outcomeColumns = {
  Outcome: (row: Outcome) => row.outcome,
  Tool: (row: Outcome) => row.tool,
  'On the server': (row: Outcome) => row.on_server,
  Reason: (row: Outcome) => row.reason,
};
