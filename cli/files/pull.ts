import { mkdir, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { WORKFLOW_FILE_SCHEMA } from '#shared/contract/workflows/workflow-file.ts';
import { slugWith } from '#shared/values/slug.ts';
import { misuse, refusal } from '#cli/endings.ts';
import { named } from '#cli/references.ts';
import { printable } from '#cli/output.ts';
import type { Session } from '#cli/session.ts';
import type { Definition, ReadFile } from './definition.ts';
import { changedSettings, emptySettings } from './differences.ts';
import { filesBelow, kindAt, readFiles } from './folder.ts';
import { listStored, type StoredWorkflow } from './stored.ts';
import { type Format, textOf } from './written.ts';

export interface PullOptions {
  folder: string;
  /** The format of new files. Existing files keep theirs. */
  format: Format;
  prune?: true;
}

/** With the extension and a number, far below the 255 bytes that file systems allow. */
const MAX_SLUG = 100;

interface Target {
  workflow: StoredWorkflow;
  path: string;
  /** The present content, if the file belongs to the workflow. */
  now?: Definition;
  /** The address of the schema that this content names. */
  schema?: string | undefined;
  /** Whether another workflow uses the file name that this one's name would give. */
  moved: boolean;
}

interface Row {
  file: string;
  id: string;
  name: string;
  change: 'created' | 'changed' | 'unchanged' | 'deleted';
}

/**
 * Writes workflows to files in a folder, one file each: those with the given ids or names, or all. Nothing is written
 * unless everything can be. Throws Ending.
 */
export async function pullFiles(
  { client, output }: Session,
  names: readonly string[],
  { folder, format, prune }: PullOptions,
): Promise<void> {
  if (prune === true && names.length > 0) throw misuse('--prune is for all workflows');
  const workflows = await listStored(client);
  const present = await readFolder(folder);
  const targets = targetsOf(workflows, present, { folder, format });
  const chosen = names.length === 0 ? targets : chosenBy(names, targets);
  for (const target of chosen) await requireWritable(target);
  await mkdir(folder, { recursive: true });
  const shared = sharedNames(workflows);
  const rows: Row[] = [];
  for (const target of chosen) {
    rows.push(await writeTarget(target, shared, client.baseUrl + WORKFLOW_FILE_SCHEMA));
  }
  const stale = staleFiles(present, workflows);
  if (prune === true) for (const file of stale) rows.push(await remove(file));
  output.list(rows, {
    File: 'file',
    Name: 'name',
    '': 'change',
  });
  for (const { path, workflow } of chosen.filter(({ moved }) => moved)) {
    output.note(
      `${printable(path)} has a number: '${printable(workflow.name)}' gives the file name of another workflow`,
    );
  }
  if (prune === true || names.length > 0) return;
  for (const { file } of stale) {
    output.note(
      `${printable(file)} was left: it is no workflow of the workspace (--prune deletes it)`,
    );
  }
}

async function readFolder(folder: string): Promise<ReadFile[]> {
  try {
    await stat(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw misuse(`${folder} cannot be read: ${(error as Error).message}`);
  }
  try {
    return await readFiles((await filesBelow(folder)).files);
  } catch (error) {
    throw misuse(`${folder} cannot be read: ${(error as Error).message}`);
  }
}

/** The names that several workflows have, whose files need an id. */
function sharedNames(workflows: readonly StoredWorkflow[]): Set<string> {
  const named = Map.groupBy(workflows, ({ name }) => name);
  return new Set([...named].filter(([, all]) => all.length > 1).map(([name]) => name));
}

/**
 * The file of every workflow in the workspace, so that pulling some of them gives the same files as pulling all. An
 * existing file keeps its workflow, wherever it is in the folder. The others are named after their workflows, oldest
 * first.
 */
function targetsOf(
  workflows: readonly StoredWorkflow[],
  present: readonly ReadFile[],
  { folder, format }: PullOptions,
): Target[] {
  const shared = sharedNames(workflows);
  const files = new Map<string, ReadFile & { definition: Definition }>();
  const taken = new Set<string>();
  for (const { definition, ...read } of present) {
    if (definition === undefined) continue;
    taken.add(read.file.toLowerCase());
    const key = keyOf(definition);
    if (!files.has(key)) files.set(key, { ...read, definition });
  }
  const oldestFirst = workflows.toSorted((a, b) =>
    a.created_at === b.created_at ? compare(a.id, b.id) : compare(a.created_at, b.created_at),
  );
  return oldestFirst.map((workflow) => {
    const found =
      files.get(keyOf({ id: workflow.id })) ??
      (shared.has(workflow.name) ? undefined : files.get(keyOf({ name: workflow.name })));
    if (found !== undefined) {
      const { file: path, definition: now, schema } = found;
      return { workflow, path, now, schema, moved: false };
    }
    const slug = slugWith('-', workflow.name, MAX_SLUG);
    let path = join(folder, `${slug}.${format}`);
    const first = path;
    for (let number = 2; taken.has(path.toLowerCase()); number += 1) {
      path = join(folder, `${slug}-${number}.${format}`);
    }
    taken.add(path.toLowerCase());
    return { workflow, path, moved: path !== first };
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What identifies the workflow of a file. */
const keyOf = ({ id, name }: { id?: string | undefined; name?: string }): string =>
  id === undefined ? `name ${name}` : `id ${id}`;

function chosenBy(names: readonly string[], targets: readonly Target[]): Target[] {
  const chosen = new Set<Target>();
  for (const name of names) {
    const byId = targets.filter(({ workflow }) => workflow.id === name);
    const found = byId.length > 0 ? byId : targets.filter(({ workflow }) => workflow.name === name);
    chosen.add(named('workflow', name, found));
  }
  return [...chosen];
}

/** A link could lead out of the folder, and a file that is not a workflow belongs to someone else. */
async function requireWritable({ path, now }: Target): Promise<void> {
  const kind = await kindAt(path);
  if (kind === 'link') throw refusal(`${path} is a symbolic link: nothing was written`);
  if (kind === 'other') throw refusal(`${path} is not a file: nothing was written`);
  if (kind === 'file' && now === undefined) {
    throw refusal(
      `${path} is there and is no workflow file: correct or move it. Nothing was written`,
    );
  }
}

async function writeTarget(
  { workflow, path, now, schema }: Target,
  shared: ReadonlySet<string>,
  published: string,
): Promise<Row> {
  const { id, name } = workflow;
  const row = { file: path, id, name };
  const needsId = shared.has(name) || now?.id !== undefined;
  const same = now !== undefined && (!shared.has(name) || now.id !== undefined);
  if (same && changedSettings(workflow, { ...emptySettings, ...now } as Definition).length === 0) {
    return { ...row, change: 'unchanged' };
  }
  const { id: _id, ...settings } = workflow;
  const format = extname(path).toLowerCase() === '.json' ? 'json' : 'yaml';
  await replace(path, textOf(needsId ? workflow : settings, format, schema ?? published));
  return { ...row, change: now === undefined ? 'created' : 'changed' };
}

/** Writes atomically: readers see either the old or the new content. */
async function replace(path: string, text: string): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    await writeFile(part, text, { flag: 'wx' });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Files of workflows that do not exist in the workspace. */
function staleFiles(present: readonly ReadFile[], workflows: readonly StoredWorkflow[]) {
  const known = new Set(workflows.flatMap(({ id, name }) => [keyOf({ id }), keyOf({ name })]));
  return present.flatMap(({ file, definition }) =>
    definition === undefined || known.has(keyOf(definition)) ? [] : [{ file, definition }],
  );
}

async function remove({
  file,
  definition,
}: {
  file: string;
  definition: Definition;
}): Promise<Row> {
  await unlink(file);
  return { file, id: definition.id ?? '', name: definition.name, change: 'deleted' };
}
