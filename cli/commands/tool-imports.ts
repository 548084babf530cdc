import type { Command } from 'commander';
import type { BodyOf, Client, ToolImport } from '#client/index.ts';
import { Ending, exitCodes, misuse } from '#cli/endings.ts';
import { collect, readJsonObject, readText } from '#cli/input.ts';
import { inSession } from '#cli/session.ts';

interface ImportOptions {
  openapi?: string;
  name?: string[];
  operation?: string[];
  server?: string;
  secret?: string;
  connection?: string;
  as?: string;
  prefix?: string;
  headers?: string;
  list?: boolean;
}

export function importCommand(tools: Command): void {
  tools
    .command('import')
    .argument('[server-url]', 'address of an MCP server')
    .description(
      'register the tools of an MCP server or an API document; code 1 when some are skipped',
    )
    .option('--openapi <document>', 'URL or file of an OpenAPI document; - for standard input')
    .option('-n, --name <name>', 'only this tool of the server; can be repeated', collect)
    .option('-o, --operation <id>', 'only this operation of the document; can be repeated', collect)
    .option('--server <url>', "where the API is, instead of the document's first server")
    .option('--secret <name>', 'the secret that calls authenticate with')
    .option('--connection <name>', 'the connection whose token is sent instead of a secret')
    .option('--as <place>', 'where it stands: bearer, basic, header:<name> or query:<name>')
    .option('-p, --prefix <prefix>', 'what the names begin with here')
    .option('-l, --list', 'import nothing: say what an import would do')
    // Headers may contain credentials, which must not be process arguments.
    .option('--headers <file>', 'JSON object with the headers to send; - for standard input')
    .action(
      inSession<ImportOptions>(async ({ client, output }, [url], given) => {
        const result = await client.importTools(await importOf(url, given));
        if (output.format === 'json') output.record(result);
        else {
          const columns = {
            Outcome: 'outcome',
            Tool: 'tool',
            'At its source': 'source',
          } as const;
          output.list(outcomesOf(result), { ...columns, Reason: 'reason' });
        }
        if (result.skipped.length > 0) throw new Ending(exitCodes.refused);
      }),
    );
}

async function importOf(
  url: string | undefined,
  { openapi, name: names, operation: operations, server, prefix, ...given }: ImportOptions,
): Promise<BodyOf<'POST /api/tools/import'>> {
  if ((url === undefined) === (openapi === undefined)) {
    throw misuse('name either the address of an MCP server or --openapi');
  }
  const auth = authOf(given);
  const headers =
    given.headers === undefined
      ? undefined
      : ((await readJsonObject(given.headers)) as Record<string, string>);
  return {
    server_url: url,
    openapi: openapi === undefined ? undefined : await documentOf(openapi),
    names,
    operations,
    server,
    auth,
    prefix,
    headers,
    ...(given.list === true ? { only_list: true } : {}),
  };
}

/** What calls authenticate with. */
function authOf({
  secret,
  connection,
  as,
}: ImportOptions): BodyOf<'POST /api/tools/import'>['auth'] {
  if (secret !== undefined && connection !== undefined) {
    throw misuse('name either --secret or --connection');
  }
  if (secret !== undefined) return { secret, as: as ?? 'bearer' };
  if (connection !== undefined) return { connection, as: as ?? 'bearer' };
  if (as !== undefined) throw misuse('--as needs --secret or --connection');
  return undefined;
}

/** A URL as it is, and the text of a file. */
const documentOf = async (given: string): Promise<string> =>
  /^https?:\/\//i.test(given) ? given : readText(given);

export function refreshCommand(
  tools: Command,
  toolOf: (client: Client, tool: string) => Promise<string>,
): void {
  tools
    .command('refresh')
    .argument('<tool>', 'id or name')
    .description('compare a tool with its API document; code 1 while a change is not accepted')
    .option(
      '--openapi <file>',
      'the document, if it was not imported by its URL; - for standard input',
    )
    .option('--accept <digest>', 'accept the change with this digest')
    .action(
      inSession<{ openapi?: string; accept?: string }>(
        async ({ client, output }, [tool = ''], { openapi, accept }) => {
          const document = openapi === undefined ? {} : { openapi: await readText(openapi) };
          const result = await client.refreshTool(await toolOf(client, tool), {
            ...document,
            ...(accept === undefined ? {} : { accept }),
          });
          output.record(result);
          if (result.tool.changed) throw new Ending(exitCodes.refused);
        },
      ),
    );
}

interface Outcome {
  outcome: string;
  tool?: string;
  source: string;
  reason?: string;
}

function outcomesOf({ skipped, listed = [], created, updated, unchanged }: ToolImport): Outcome[] {
  const shown = listed.map(({ state, name, reason, ...source }) => ({
    outcome: state,
    ...(name === '' ? {} : { tool: `custom:${name}` }),
    source: nameOf(source),
    ...(reason === undefined ? {} : { reason }),
  }));
  const done = Object.entries({ created, updated, unchanged }).flatMap(([outcome, imported]) =>
    imported.map(({ name, ...source }) => ({
      outcome,
      tool: `custom:${name}`,
      source: nameOf(source),
    })),
  );
  const refused = skipped.map(({ name, reason }) => ({ outcome: 'skipped', source: name, reason }));
  return [...shown, ...done, ...refused];
}

const nameOf = (source: { mcp_tool: string | null; operation: string | null }): string =>
  source.mcp_tool ?? source.operation ?? '';
