import { ApiError, type BodyOf, type Client, type Workflow } from '#client/index.ts';
import { Ending, endingOf, exitCodes, refusal } from '#cli/endings.ts';
import type { Output } from '#cli/output.ts';
import { exactJson, printable } from '#cli/output.ts';
import type { Session } from '#cli/session.ts';
import { type Difference, differenceLines } from './differences.ts';
import { filesAt, readFiles } from './folder.ts';
import { type FileProblem, type Plan, planOf, type Step } from './plan.ts';
import { plainWorkflow, type StoredWorkflow } from './stored.ts';
import { terminal } from '#cli/terminal.ts';

export interface ApplyOptions {
  file: string[];
  publish?: true;
  dryRun?: true;
  allowInvalid?: true;
  /** Prints a line for each workflow that was written, instead of a table of all. */
  onlyChanges?: true;
}

/** How many workflows are written concurrently. */
const AT_ONCE = 4;

/** The maximum number of problems that are printed, because a thousand of one kind help no one. */
const MAX_PRINTED = 50;

/**
 * Creates and updates the workflows that the files describe. Every file is read, checked and compared before the first
 * one is written. Throws Ending: `usage` for a broken file, `refused` for a graph that cannot run, and the ending of
 * the first write that failed.
 */
export async function applyFiles(
  { client, output }: Session,
  { file: paths, publish, dryRun, allowInvalid, onlyChanges }: ApplyOptions,
): Promise<void> {
  const { files, links } = await filesAt(paths);
  for (const link of links) {
    terminal().stderr.write(`ops: ${printable(link)} is a link: not followed\n`);
  }
  const plan = await planOf(client, await readFiles(files), {
    publish: publish === true,
    allowInvalid: allowInvalid === true,
  });
  if (plan.problems.length > 0) throw reported(plan, files.length);
  if (dryRun === true) return printPlan(output, plan.steps, publish === true);
  const { rows, failure } = await carryOut(client, plan.steps, publish === true);
  if (onlyChanges === true) printChanges(output, rows);
  else printRows(output, rows);
  if (failure !== undefined) throw failure;
}

function reported({ problems, onlyGraphs }: Plan, files: number): Ending {
  for (const problem of problems.slice(0, MAX_PRINTED)) {
    terminal().stderr.write(`ops: ${printable(textOf(problem))}\n`);
  }
  const broken = new Set(problems.map(({ file }) => file)).size;
  const hint = onlyGraphs ? '; --allow-invalid saves graphs that cannot run yet' : '';
  return new Ending(
    onlyGraphs ? exitCodes.refused : exitCodes.usage,
    `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in ${broken} of ${files} ${files === 1 ? 'file' : 'files'}: nothing was changed${hint}`,
  );
}

/** `answer.yaml:12:5: unknown key 'promt'`, a format that editors turn into a link. */
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
    File: 'file',
    Id: (row) => row.workflow?.id,
    Name: 'name',
    Version: (row) => row.workflow?.version,
    '': 'change',
  });
  if (rows.length > 1) output.note(`${rows.length} workflows: ${countsOf(rows)}`);
}

function printChanges(output: Output, rows: readonly Row[]): void {
  for (const { file, name, change, workflow } of rows) {
    if (change === 'unchanged') continue;
    if (output.format === 'json') {
      const { id, version } = workflow ?? {};
      output.line(exactJson({ type: 'applied', file, name, change, id, version }, 0));
    } else output.line(`${printable(file)}: ${change} (${printable(name)})`);
  }
  output.note(`${rows.length} ${rows.length === 1 ? 'workflow' : 'workflows'}: ${countsOf(rows)}`);
}

function countsOf(rows: readonly Row[]): string {
  const counts = (['created', 'updated', 'unchanged'] as const)
    .map((change) => [rows.filter((row) => row.change === change).length, change] as const)
    .filter(([count]) => count > 0);
  return counts.map((count) => count.join(' ')).join(', ');
}

/**
 * Executes the steps, several concurrently. After a failure, no further step begins. The rows show what was written.
 */
async function carryOut(client: Client, steps: readonly Step[], publish: boolean) {
  const rows: (Row | undefined)[] = steps.map(() => undefined);
  let failure: Ending | undefined;
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < steps.length && failure === undefined; at = next++) {
      const step = steps[at]!;
      const { file, change, before } = step;
      try {
        const same =
          change === 'unchanged' && before !== undefined ? plainWorkflow(before) : undefined;
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
  const { $schema: _schema, id: _id, checks, limits, ...settings } = definition;
  if (before !== undefined) {
    return unlessChanged(before, () => update(client, before, { definition, difference, publish }));
  }
  const created = await client.createWorkflow(settings as BodyOf<'POST /api/workflows'>);
  const checked =
    checks === undefined || checks.length === 0
      ? created
      : await client.setChecks(created.id, checks, { ifMatch: created.etag });
  if (limits != null) await client.setLimits(created.id, limits);
  return publish ? client.publishWorkflow(checked.id) : checked;
}

/** Sends what differs. Each request only applies to the workflow as the previous response returned it. */
async function update(
  client: Client,
  before: StoredWorkflow,
  {
    definition,
    difference: { settings },
    publish,
  }: Pick<Step, 'definition' | 'difference'> & { publish: boolean },
): Promise<Workflow> {
  const { id } = before;
  let current = plainWorkflow(before);
  const changed = settings.filter((name) => name !== 'checks' && name !== 'limits');
  if (changed.length > 0) {
    const body = Object.fromEntries(changed.map((name) => [name, definition[name]]));
    current = await client.updateWorkflow(id, body, { ifMatch: current.etag });
  }
  if (definition.checks !== undefined && settings.includes('checks')) {
    current = await client.setChecks(id, definition.checks, { ifMatch: current.etag });
  }
  // Their keys must be in the input schema.
  if (definition.limits !== undefined && settings.includes('limits')) {
    await client.setLimits(id, definition.limits ?? {}, { ifMatch: before.limitsEtag });
  }
  if (publish && current.status !== 'published') {
    current = await client.publishWorkflow(id, { ifMatch: current.etag });
  }
  return current;
}

/** Throws Ending for a workflow that has changed since the comparison, such as one with another name. */
async function unlessChanged(before: Workflow, work: () => Promise<Workflow>): Promise<Workflow> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    const { name = before.name } = (error.current ?? {}) as { name?: string };
    if (name !== before.name) {
      throw refusal(`${before.id} was renamed meanwhile, from '${before.name}' to '${name}'`);
    }
    throw refusal(`'${before.name}' was changed meanwhile: apply again to compare it again`);
  }
}
