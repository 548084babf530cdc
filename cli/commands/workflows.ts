import type { Command } from 'commander';
import { ApiError, type Client, type Workflow } from '#client/index.ts';
import { Ending, exitCodes, refusal } from '#cli/endings.ts';
import { graphLines } from '#cli/files/graph-lines.ts';
import { named } from '#cli/references.ts';
import { wholePositive } from '#cli/input.ts';
import type { Output } from '#cli/output.ts';
import { ifMatch, inSession, type Session } from '#cli/session.ts';
import { applyCommand } from './files.ts';
import { firstOf, listCommand, recordCommand } from '#cli/records.ts';

/** The workflow with this ID or, if there is none, with exactly this name. */
export async function findWorkflow(client: Client, reference: string): Promise<Workflow> {
  if (/^wf_\w+$/.test(reference)) {
    try {
      return await client.getWorkflow(reference);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }
  const workflows = await client.listWorkflows();
  return named(
    'workflow',
    reference,
    workflows.filter(({ name }) => name === reference),
  );
}

/** The id of a workflow that an option names, if it is given. */
export const workflowIdOf = async (
  client: Client,
  reference: string | undefined,
): Promise<string | undefined> =>
  reference === undefined ? undefined : (await findWorkflow(client, reference)).id;

export function workflowCommands(program: Command): void {
  const workflows = program.command('workflows').description('list and manage workflows');

  listCommand(workflows, 'list workflows', {
    rows: (client) => client.listWorkflows(),
    columns: {
      Id: 'id',
      Name: 'name',
      Status: 'status',
      Version: 'version',
      Runs: (row) => row.stats.total,
      Succeeded: (row) => `${row.stats.success_rate}%`,
    },
  });

  recordCommand(workflows, ['show', 'show a workflow with its graph'], {
    argument: ['workflow', 'id or name'],
    read: findWorkflow,
    fields: (workflow) => {
      const { graph: _graph, input_schema: schema, stats, checks: _checks, ...rest } = workflow;
      const { nodes, edges, checks } = partsOf(workflow);
      return {
        ...rest,
        nodes: nodes.map(({ id, kind }) => `${id} (${kind})`).join(', '),
        edges: edges.map(({ source, target }) => `${source} > ${target}`).join(', '),
        input: schema === null ? '' : JSON.stringify(schema),
        checks: checks.map(({ name }) => name).join(', '),
        runs: stats.total,
      };
    },
  });

  workflows
    .command('versions')
    .argument('<workflow>', 'id or name')
    .description('list the versions of a workflow, newest first, with author and note')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const { id } = await findWorkflow(client, reference);
        output.list(await firstOf(client.versions(id)), {
          Version: 'version',
          Saved: 'created_at',
          Author: 'created_by_name',
          Nodes: 'nodes',
          Note: 'note',
        });
      }),
    );

  applyCommand(workflows);

  workflows
    .command('validate')
    .argument('<workflow>', 'id or name')
    .description('report all problems of a graph; code 1 when there are any')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const { id } = await findWorkflow(client, reference);
        const report = await client.validate(id);
        if (output.format === 'json') output.record(report);
        else printReport(output, report);
        if (!report.valid) throw new Ending(exitCodes.refused);
      }),
    );

  workflows
    .command('diff')
    .argument('<workflow>', 'id or name')
    .description('compare two versions; by default the newest with the previous one')
    .option('--from <version>', 'the older version', wholePositive)
    .option('--to <version>', 'the newer version', wholePositive)
    .action(inSession(diff));

  workflows
    .command('publish')
    .argument('<workflow>', 'id or name')
    .description('publish the current version')
    .addOption(ifMatch('workflow'))
    .action(
      inSession(async ({ client, output, known }, [reference = '']) => {
        const { id } = await findWorkflow(client, reference);
        const published = await client.publishWorkflow(id, known);
        if (output.format === 'json') output.record(published);
        else output.note(`Published ${published.id} (${published.name})`);
      }),
    );

  workflows
    .command('delete')
    .argument('<workflow>', 'id or name')
    .description('delete a workflow and its runs')
    .addOption(ifMatch('workflow'))
    .action(
      inSession(async ({ client, output, known }, [reference = '']) => {
        const { id, name } = await findWorkflow(client, reference);
        await client.deleteWorkflow(id, known);
        output.note(`Deleted ${id} (${name})`);
      }),
    );
}

interface Node {
  id: string;
  kind: string;
}
interface Edge {
  source: string;
  target: string;
}

/** Stored graphs are not validated; these are the fields that every part has. */
function partsOf({ graph, checks }: Workflow) {
  return {
    nodes: graph.nodes as Node[],
    edges: graph.edges as Edge[],
    checks: checks as { name: string }[],
  };
}

type Report = Awaited<ReturnType<Client['validate']>>;

function printReport(output: Output, { valid, errors, warnings }: Report): void {
  for (const { message } of errors) output.note(`${output.paint('red', 'error')}: ${message}`);
  for (const { message } of warnings) {
    output.note(`${output.paint('yellow', 'warning')}: ${message}`);
  }
  if (valid) output.note('The graph is valid');
}

async function diff(
  { client, output }: Session,
  [reference = '']: string[],
  { from, to }: { from?: number; to?: number },
): Promise<void> {
  const { id, version } = await findWorkflow(client, reference);
  const newer = to ?? version;
  const older = from ?? newer - 1;
  if (older < 1) throw refusal(`Version ${newer} is the first`);
  const difference = await client.diffVersions(id, { from: older, to: newer });
  if (output.format === 'json') return output.record(difference);
  for (const line of graphLines(difference, output.paint)) output.note(line);
}
