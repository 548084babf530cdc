import type { Client } from '#client/index.ts';
import type { CustomToolDefinitions } from '#shared/agents/offered-tools.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { inputKeysOf } from '#shared/graph/input-keys.ts';
import type { JsonObject } from '#shared/json.ts';
import { builtinTools } from '#shared/tools.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { Definition, ReadFile } from './definition.ts';
import { type Difference, differenceOf, emptySettings } from './differences.ts';
import { listStored, type StoredWorkflow } from './stored.ts';
import type { Problem } from './text.ts';

/** What would happen to a file's workflow. */
export interface Step {
  file: string;
  definition: Definition;
  /** The workflow as listed; absent for a new one. */
  before?: StoredWorkflow;
  change: 'created' | 'updated' | 'unchanged';
  difference: Difference;
}

export interface FileProblem extends Problem {
  file: string;
}

export interface Plan {
  steps: Step[];
  problems: FileProblem[];
  /** Whether all problems are graphs that cannot run, but can be saved. */
  onlyGraphs: boolean;
}

export interface PlanOptions {
  publish: boolean;
  allowInvalid: boolean;
}

/**
 * Compares the files with the workspace, and checks them. It requests the list and, if a changed graph needs them, the
 * tools.
 */
export async function planOf(
  client: Client,
  files: readonly ReadFile[],
  { publish, allowInvalid }: PlanOptions,
): Promise<Plan> {
  const problems = [...files.flatMap(ownProblems), ...sharedNames(files)];
  if (problems.length > 0) return { steps: [], problems, onlyGraphs: false };
  const matched = match(files, await listStored(client));
  if (matched.problems.length > 0) {
    return { steps: [], problems: matched.problems, onlyGraphs: false };
  }
  const steps = matched.pairs.map((pair) => stepOf(pair, publish));
  const invalid = allowInvalid ? [] : await graphProblems(client, files, steps);
  return { steps, problems: invalid, onlyGraphs: invalid.length > 0 };
}

const ownProblems = ({ file, problems }: ReadFile): FileProblem[] =>
  problems.map((problem) => ({ file, ...problem }));

/** Pairs of files without an id that have the same name. */
function sharedNames(files: readonly ReadFile[]): FileProblem[] {
  const first = new Map<string, string>();
  return files.flatMap(({ file, definition }) => {
    if (definition === undefined || definition.id !== undefined) return [];
    const other = first.get(definition.name);
    if (other !== undefined) return [{ file, message: sameName(definition.name, other) }];
    first.set(definition.name, file);
    return [];
  });
}

const sameName = (name: string, other: string): string =>
  `has the name '${name}', as ${other} does: one file is one workflow`;

interface Pair {
  file: string;
  definition: Definition;
  before?: StoredWorkflow;
}

function match(files: readonly ReadFile[], workflows: readonly StoredWorkflow[]) {
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  const byName = Map.groupBy(workflows, ({ name }) => name);
  const pairs: Pair[] = [];
  const problems: FileProblem[] = [];
  const taken = new Map<string, string>();
  for (const { file, definition } of files) {
    if (definition === undefined) continue;
    const { id, name } = definition;
    const named = byName.get(name) ?? [];
    const before = id === undefined ? named[0] : byId.get(id);
    if (id !== undefined && before === undefined) {
      problems.push({ file, message: `no workflow has the id '${id}'` });
    } else if (id === undefined && named.length > 1) {
      const message = `several workflows are named '${name}': put the \`id\` of one into the file`;
      problems.push({ file, message });
    } else if (before !== undefined && taken.has(before.id)) {
      problems.push({ file, message: `is the workflow of ${taken.get(before.id)}, too` });
    } else {
      if (before !== undefined) taken.set(before.id, file);
      pairs.push({ file, definition, before });
    }
  }
  return { pairs, problems };
}

function stepOf(pair: Pair, publish: boolean): Step {
  const { definition, before } = pair;
  const difference = differenceOf(before ?? { name: definition.name, ...emptyOf() }, definition);
  if (before === undefined) return { ...pair, change: 'created', difference };
  const differs = difference.settings.length > 0 || (publish && before.status !== 'published');
  return { ...pair, change: differs ? 'updated' : 'unchanged', difference };
}

const emptyOf = () => ({ ...emptySettings, graph: { nodes: [], edges: [] }, checks: [] });

/** The graphs that would be written and cannot run. A graph that the workspace already has is not reported. */
async function graphProblems(
  client: Client,
  files: readonly ReadFile[],
  steps: readonly Step[],
): Promise<FileProblem[]> {
  const written = steps.filter(
    ({ before, difference }) => before === undefined || difference.settings.includes('graph'),
  );
  if (written.length === 0) return [];
  const customTools = await toolsFor(client, written);
  const readers = new Map(files.map((file) => [file.file, file]));
  return written.flatMap(({ file, definition, before }) => {
    const { input_schema: schema = before?.input_schema ?? null, graph } = definition;
    const { errors } = checkGraph(graph ?? emptyOf().graph, {
      tools: builtinTools,
      customTools,
      ...inputKeysOf(schema as JsonObject | null),
    });
    return errors.map(({ message, path }) => {
      const place = path === undefined ? undefined : readers.get(file)?.placeInGraph(path);
      const at = path === undefined || /^(?:nodes|edges)\[/.test(message) ? '' : `${path}: `;
      return { file, message: `graph: ${at}${message}`, place };
    });
  });
}

async function toolsFor(client: Client, steps: readonly Step[]): Promise<CustomToolDefinitions> {
  const needed = steps.some(({ definition }) =>
    canonicalJson(definition.graph).includes('custom:'),
  );
  if (!needed) return new Map();
  const tools = await client.listTools();
  return new Map(
    tools.map(({ name, label, description, input_schema: schema }) => [
      name,
      { label, description, input_schema: schema as JsonObject | null },
    ]),
  );
}
