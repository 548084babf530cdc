import type { Command } from 'commander';
import {
  ApiError,
  type BodyOf,
  type Client,
  type GraphDiff,
  type Workflow,
} from '../../client/index.ts';
import { Ending, exitCodes, misuse, refusal } from '../endings.ts';
import { collect, readJsonObject, wholePositive } from '../input.ts';
import type { Output } from '../output.ts';
import { inSession, type Session } from '../session.ts';

/** The workflow with this ID, or else with exactly this name. */
export async function findWorkflow(client: Client, reference: string): Promise<Workflow> {
  if (/^wf_\w+$/.test(reference)) {
    try {
      return await client.getWorkflow(reference);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }
  const [found, ...others] = await workflowsNamed(client, reference);
  if (found === undefined) throw refusal(`No workflow has the id or name '${reference}'`);
  if (others.length > 0) throw refusal(`Several workflows are named '${reference}': give an id`);
  return found;
}

async function workflowsNamed(client: Client, name: string): Promise<Workflow[]> {
  return (await client.listWorkflows()).filter((workflow) => workflow.name === name);
}

export function workflowCommands(program: Command): void {
  const workflows = program.command('workflows').description('list and manage workflows');
  readCommands(workflows);
  versionsCommand(workflows);
  changeCommands(workflows);
  checkCommands(workflows);
  publishAndDelete(workflows);
}

function readCommands(workflows: Command): void {
  workflows
    .command('list')
    .description('list workflows')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listWorkflows(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Status: (row) => row.status,
          Version: (row) => row.version,
          Runs: (row) => row.stats.total,
          Succeeded: (row) => `${row.stats.success_rate}%`,
        });
      }),
    );

  workflows
    .command('show')
    .argument('<workflow>', 'id or name')
    .description('show a workflow with its graph')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const workflow = await findWorkflow(client, reference);
        const { graph: _graph, input_schema: schema, stats, checks: _checks, ...rest } = workflow;
        const { nodes, edges, checks } = partsOf(workflow);
        output.record(workflow, {
          ...rest,
          nodes: nodes.map(({ id, kind }) => `${id} (${kind})`).join(', '),
          edges: edges.map(({ source, target }) => `${source} > ${target}`).join(', '),
          input: schema === null ? '' : JSON.stringify(schema),
          checks: checks.map(({ name }) => name).join(', '),
          runs: stats.total,
        });
      }),
    );
}

function versionsCommand(workflows: Command): void {
  workflows
    .command('versions')
    .argument('<workflow>', 'id or name')
    .description('list the versions of a workflow, newest first, with author and note')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const { id } = await findWorkflow(client, reference);
        const versions = [];
        for await (const version of client.versions(id)) versions.push(version);
        output.list(versions, {
          Version: (row) => row.version,
          Saved: (row) => row.created_at,
          Author: (row) => row.created_by_name,
          Nodes: (row) => row.nodes,
          Note: (row) => row.note,
        });
      }),
    );
}

function changeCommands(workflows: Command): void {
  workflows
    .command('apply')
    .description('create workflows from files, or update those with the same id or name')
    .requiredOption(
      '-f, --file <file>',
      'JSON with name, description, graph, input_schema, checks; - for standard input; may be repeated',
      collect,
    )
    .option('--publish', 'publish them, too')
    .action(
      inSession<{ file: string[]; publish?: true }>(async (session, _args, { file, publish }) => {
        const definitions = await Promise.all(file.map(readDefinition));
        const applied = [];
        for (const definition of definitions) {
          applied.push(await apply(session.client, definition, publish === true));
        }
        session.output.list(applied, {
          Id: (row) => row.workflow.id,
          Name: (row) => row.workflow.name,
          Version: (row) => row.workflow.version,
          '': (row) => row.change,
        });
      }),
    );
}

function checkCommands(workflows: Command): void {
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
}

function publishAndDelete(workflows: Command): void {
  workflows
    .command('publish')
    .argument('<workflow>', 'id or name')
    .description('publish the current version')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const { id } = await findWorkflow(client, reference);
        const published = await client.publishWorkflow(id);
        if (output.format === 'json') output.record(published);
        else output.note(`Published ${published.id} (${published.name})`);
      }),
    );

  workflows
    .command('delete')
    .argument('<workflow>', 'id or name')
    .description('delete a workflow and its runs')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const { id, name } = await findWorkflow(client, reference);
        await client.deleteWorkflow(id);
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

type Checks = BodyOf<'PUT /api/workflows/{id}/checks'>;

interface Definition {
  id?: string;
  create: BodyOf<'POST /api/workflows'>;
  checks: Checks | undefined;
}

async function readDefinition(file: string): Promise<Definition> {
  const { id, checks, ...fields } = await readJsonObject(file);
  if (typeof fields['name'] !== 'string') throw misuse(`${file} has no name`);
  if (id !== undefined && typeof id !== 'string') throw misuse(`The id in ${file} is not a string`);
  // The service validates the other fields, and rejects unknown ones by name.
  const create = fields as BodyOf<'POST /api/workflows'>;
  return { ...(id === undefined ? {} : { id }), create, checks: checks as Checks | undefined };
}

async function apply(client: Client, { id, create, checks }: Definition, publish: boolean) {
  const before =
    id === undefined ? await onlyNamed(client, create.name) : await client.getWorkflow(id);
  let workflow =
    before === undefined
      ? await client.createWorkflow(create)
      : await client.updateWorkflow(before.id, create);
  if (checks !== undefined) workflow = await client.setChecks(workflow.id, checks);
  if (publish && workflow.status !== 'published') {
    workflow = await client.publishWorkflow(workflow.id);
  }
  return { change: changeOf(before, workflow), workflow };
}

async function onlyNamed(client: Client, name: string): Promise<Workflow | undefined> {
  const [found, ...others] = await workflowsNamed(client, name);
  if (others.length > 0) {
    throw refusal(`Several workflows are named '${name}': put an id in the file`);
  }
  return found;
}

function changeOf(before: Workflow | undefined, after: Workflow): string {
  if (before === undefined) return 'created';
  const fieldsOf = ({ name, description, status, version, checks }: Workflow): string =>
    JSON.stringify([name, description, status, version, checks]);
  return fieldsOf(before) === fieldsOf(after) ? 'unchanged' : 'updated';
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
  printSchemaChange(output, difference.input_schema);
  for (const kind of ['node', 'edge'] as const) {
    for (const [change, [colour, sign]] of signs) {
      for (const part of difference[`${kind}s`][change]) {
        output.note(`${output.paint(colour, sign)} ${kind} ${nameOf(part as Node | Edge)}`);
      }
    }
  }
}

const signs = [
  ['added', ['green', '+']],
  ['removed', ['red', '-']],
  ['changed', ['yellow', '~']],
] as const;

function printSchemaChange(output: Output, change: GraphDiff['input_schema']): void {
  if (change === null) return;
  const [sign, [colour, mark]] =
    change.from === null ? signs[0] : change.to === null ? signs[1] : signs[2];
  const paths = sign === 'changed' ? `: ${change.paths.join(', ')}` : '';
  output.note(`${output.paint(colour, mark)} input schema${paths}`);
}

const nameOf = (part: Node | Edge): string =>
  'source' in part ? `${part.source} > ${part.target}` : part.id;
