import type { BodyOf, Client, Workflow } from '../../client/index.ts';
import { Ending, endingOf, exitCodes, refusal } from '../endings.ts';
import type { Output } from '../output.ts';
import { printable } from '../output.ts';
import type { Session } from '../session.ts';
import type { Definition } from './definition.ts';
import { type Difference, differenceLines } from './differences.ts';
import { filesAt, readFiles } from './folder.ts';
import { type FileProblem, type Plan, planOf, type Step } from './plan.ts';

export interface ApplyOptions {
  file: string[];
  publish?: true;
  dryRun?: true;
  allowInvalid?: true;
}

/** How many workflows are written at once. */
const AT_ONCE = 4;

/** Problems that are printed; a thousand of one kind help no one. */
const MAX_PRINTED = 50;

/**
 * Creates and updates the workflows that the files describe. Every file is read, checked and compared before the first
 * one is written. Throws Ending: usage for a broken file, refused for a graph that cannot run, and the end of the first
 * write that failed.
 */
export async function applyFiles(
  { client, output }: Session,
  { file: paths, publish, dryRun, allowInvalid }: ApplyOptions,
): Promise<void> {
  const { files, links } = await filesAt(paths);
  for (const link of links) {
    process.stderr.write(`ops: ${printable(link)} is a link: not followed\n`);
  }
  const plan = await planOf(client, await readFiles(files), {
    publish: publish === true,
    allowInvalid: allowInvalid === true,
  });
  if (plan.problems.length > 0) throw reported(plan, files.length);
  if (dryRun === true) return printPlan(output, plan.steps, publish === true);
  const { rows, failure } = await carryOut(client, plan.steps, publish === true);
  printRows(output, rows);
  if (failure !== undefined) throw failure;
}

function reported({ problems, onlyGraphs }: Plan, files: number): Ending {
  for (const problem of problems.slice(0, MAX_PRINTED)) {
    process.stderr.write(`ops: ${printable(textOf(problem))}\n`);
  }
  const broken = new Set(problems.map(({ file }) => file)).size;
  const hint = onlyGraphs ? '; --allow-invalid saves graphs that cannot run yet' : '';
  return new Ending(
    onlyGraphs ? exitCodes.refused : exitCodes.usage,
    `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in ${broken} of ${files} ${files === 1 ? 'file' : 'files'}: nothing was changed${hint}`,
  );
}

/** `answer.yaml:12:5: unknown key 'promt'`, a form that editors make a link. */
function textOf({ file, message, place }: FileProblem): string {
  if (place === undefined) return `${file}: ${message}`;
  return `${file}:${place.line}:${place.column}: ${message}`;
}

interface Row {
  file: string;
  name: string;
  change: Step['change'];
  workflow?: Workflow;
  difference?: Difference & { publish: boolean };
}

function printPlan(output: Output, steps: readonly Step[], publish: boolean): void {
  const rows = steps.map(({ file, definition: { name }, before, change, difference }): Row => {
    const willPublish = publish && before?.status !== 'published';
    return { file, name, change, difference: { ...difference, publish: willPublish } };
  });
  if (output.format === 'json') return output.list(rows, {});
  for (const [at, { file, name, change, difference }] of rows.entries()) {
    output.note(`${printable(file)}: ${change} (${printable(name)})`);
    if (change === 'unchanged') continue;
    const lines = differenceLines(steps[at]!.difference, output.paint);
    if (difference?.publish === true) lines.push(`${output.paint('green', '+')} published`);
    for (const line of lines) output.note(`  ${line}`);
  }
  output.note(`Nothing was changed. It would be: ${countsOf(rows)}`);
}

function printRows(output: Output, rows: readonly Row[]): void {
  output.list(rows, {
    File: (row) => row.file,
    Id: (row) => row.workflow?.id,
    Name: (row) => row.name,
    Version: (row) => row.workflow?.version,
    '': (row) => row.change,
  });
  if (rows.length > 1) output.note(`${rows.length} workflows: ${countsOf(rows)}`);
}

function countsOf(rows: readonly Row[]): string {
  const counts = (['created', 'updated', 'unchanged'] as const)
    .map((change) => [rows.filter((row) => row.change === change).length, change] as const)
    .filter(([count]) => count > 0);
  return counts.map((count) => count.join(' ')).join(', ');
}

/** Writes the steps, several at once. After a failure no further one begins; what was written is in the rows. */
async function carryOut(client: Client, steps: readonly Step[], publish: boolean) {
  const rows: (Row | undefined)[] = steps.map(() => undefined);
  let failure: Ending | undefined;
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < steps.length && failure === undefined; at = next++) {
      const step = steps[at]!;
      const { file, change, before } = step;
      try {
        const same = change === 'unchanged' ? before : undefined;
        const workflow = same ?? (await write(client, step, publish));
        rows[at] = { file, name: workflow.name, change, workflow };
      } catch (error) {
        const { code, message } = endingOf(error);
        failure ??= new Ending(code, `${file}: ${message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { rows: rows.filter((row) => row !== undefined), failure };
}

async function write(client: Client, step: Step, publish: boolean): Promise<Workflow> {
  const { definition, before, difference } = step;
  const { id: _id, checks, ...settings } = definition;
  let workflow =
    before === undefined
      ? await client.createWorkflow(settings as BodyOf<'POST /api/workflows'>)
      : await update(client, before, definition, difference);
  const changesChecks =
    before === undefined ? (checks ?? []).length > 0 : difference.settings.includes('checks');
  if (checks !== undefined && changesChecks) {
    workflow = await client.setChecks(workflow.id, checks);
  }
  if (publish && workflow.status !== 'published') {
    workflow = await client.publishWorkflow(workflow.id);
  }
  return workflow;
}

/** Sends the settings that differ, to the workflow as it was compared. */
async function update(
  client: Client,
  before: Workflow,
  definition: Definition,
  { settings }: Difference,
): Promise<Workflow> {
  const current = await requireUnchanged(client, before);
  const changed = settings.filter((name) => name !== 'checks');
  if (changed.length === 0) return current;
  const body = Object.fromEntries(changed.map((name) => [name, definition[name]]));
  return client.updateWorkflow(current.id, body);
}

/** Throws Ending for a workflow that has changed since it was compared, such as one with another name. */
async function requireUnchanged(client: Client, before: Workflow): Promise<Workflow> {
  const current = await client.getWorkflow(before.id);
  if (current.name !== before.name) {
    throw refusal(`${before.id} was renamed meanwhile, from '${before.name}' to '${current.name}'`);
  }
  if (current.updated_at !== before.updated_at) {
    throw refusal(`'${before.name}' was changed meanwhile: apply again to compare it again`);
  }
  return current;
}
