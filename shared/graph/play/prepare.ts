import type { CustomToolDefinitions, WorkflowDefinitions } from '#shared/agents/offered-tools.ts';
import type { Graph, GraphIssue } from '#shared/contract/workflows/graph.ts';
import {
  type EvaluationCheck,
  evaluationChecksInput,
} from '#shared/contract/workflows/evaluation-check.ts';
import { messageOf } from '#shared/errors.ts';
import { refusedInput } from '#shared/graph/failure-texts.ts';
import type { CallProblems } from '#shared/graph/children/called-workflows.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { inputKeysOf } from '#shared/graph/input-keys.ts';
import { toolNamesOf } from '#shared/graph/node-tools.ts';
import { nodeSchemas } from '#shared/graph/validate/node-schemas.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { builtinTools, customToolName } from '#shared/tools.ts';
import { wording } from '#shared/values/issue-wording.ts';
import { timeOf } from '#shared/values/iso-time.ts';
import { jsonOf, objectOf, secondsOf } from './answers.ts';
import { callCycles } from './call-cycles.ts';
import { createClock } from './clock.ts';
import type { Playable, PlayableWorkflow, PlayedTool, PlayOptions } from './options.ts';
import { checkNames, checkOptions } from './option-checks.ts';
import { PlayError } from './play-error.ts';
import type { PlayedWorkflow, World } from './playing.ts';
import type { Schemas } from './schemas.ts';

/** The maximum number of reasons in a refusal; the error has all. */
const MAX_REASONS = 5;
const START = '2026-01-01T00:00:00.000Z';

/** A run that is ready to begin. */
export interface Prepared {
  world: Omit<World, 'proceed'>;
  workflow: PlayedWorkflow;
  input: JsonObject;
}

/** Checks a workflow and the options of its test. Throws PlayError. */
export function prepare(workflow: Playable, options: PlayOptions, schemas: Schemas): Prepared {
  checkOptions(options);
  const given = Object.entries(options.workflows ?? {}).flatMap(([name, each]) =>
    isPlayable(each) ? [[name, drawnOf(each, `workflows['${name}']`, name)] as const] : [],
  );
  const drawn = drawnOf(workflow, 'The workflow', '');
  const tools = toolsOf(options.tools ?? []);
  const graphs = [drawn, ...given.map(([, each]) => each)];
  const definitions = {
    customTools: customToolsOf(tools, graphs),
    workflows: workflowsOf(options, given),
  };
  const named = new Map(given.map(([name, each]) => [name, each.graph]));
  const check = (each: Drawn, name: string): PlayedWorkflow => {
    const all = new Map(named).set(name, each.graph);
    return checked(each, { definitions, schemas, calls: callCycles(name, all) });
  };
  const root = check(drawn, drawn.name);
  const workflows = new Map(given.map(([name, each]) => [name, check(each, name)]));
  checkNames(options, root.graph, workflows);
  const start = startOf(options);
  const input = objectOf(options.input ?? {}, 'input');
  const refusal =
    root.inputSchema && refusedInput(schemas.input(root.inputSchema, input), 'workflow');
  if (refusal !== undefined) throw new PlayError(refusal);
  return {
    world: {
      ...{ options, schemas, clock: createClock(start), start, workflows, tools, definitions },
      events: eventsOf(options, start),
      checks: new Map([
        [undefined, root.checks],
        ...[...workflows].map(([name, { checks }]) => [name, checks] as const),
      ]),
    },
    workflow: root,
    input,
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether an entry of `workflows` is a workflow, and not a mock of one. */
function isPlayable(value: unknown): value is Playable {
  if (!isRecord(value)) return false;
  return Array.isArray(value['nodes']) || (isRecord(value['graph']) && 'nodes' in value['graph']);
}

interface Drawn extends Omit<PlayedWorkflow, 'graph'> {
  graph: Json;
  /** What it is in messages. */
  named: string;
}

function drawnOf(given: Playable, named: string, name: string): Drawn {
  if (!isRecord(given)) {
    throw new PlayError(
      `${named} is a graph, or a workflow as a file or the builder has it, not ${typeof given}`,
    );
  }
  if ('nodes' in given || !('graph' in given)) {
    const graph = jsonOf(given, named);
    return { graph, named, name, inputSchema: undefined, description: '', checks: [] };
  }
  const {
    graph,
    input_schema: schema,
    description,
    checks = [],
    name: own,
  } = given as PlayableWorkflow & {
    description?: unknown;
  };
  if (graph === undefined) throw new PlayError(`${named} has no graph`);
  return {
    ...{ graph: jsonOf(graph, named), named, name: own ?? name, checks: checksOf(checks, named) },
    inputSchema: schema == null ? undefined : objectOf(schema, `${named}: input_schema`),
    description: typeof description === 'string' ? description : '',
  };
}

/** Checks with their problems as the service writes them. */
function checksOf(given: readonly object[], named: string): EvaluationCheck[] {
  const parsed = evaluationChecksInput.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['checks', ...(issue?.path ?? [])].join('.');
  throw new PlayError(`${named}: ${path} ${wording(issue?.message ?? 'is invalid')}`);
}

function checked(
  { graph, named, ...workflow }: Drawn,
  { definitions, schemas, calls }: Pick<World, 'definitions' | 'schemas'> & { calls: CallProblems },
): PlayedWorkflow {
  const report = checkGraph(graph, {
    tools: builtinTools,
    ...{ customTools: definitions.customTools, calls },
    ...workflowsKnown(graph, definitions.workflows),
    ...inputKeysOf(workflow.inputSchema ?? null),
  });
  const errors = [...report.errors, ...schemaIssues(report.graph, schemas)];
  if (report.graph === undefined || errors.length > 0) throw invalid(named, errors);
  const problem = workflow.inputSchema && schemas.problem(workflow.inputSchema, true);
  if (problem !== undefined) throw new PlayError(`${named}: input_schema ${problem}`);
  return { ...workflow, graph: report.graph };
}

function invalid(named: string, errors: readonly GraphIssue[]): PlayError {
  const reasons = errors.slice(0, MAX_REASONS).map(({ message }) => message);
  const more = errors.length - reasons.length;
  const text = `${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  const where = named === 'The workflow' ? '' : `${named}: `;
  return new PlayError(`${where}Workflow graph invalid: ${text}`, errors.map(withoutGaps));
}

const withoutGaps = ({ code, message, node_id, path, position }: GraphIssue) => ({
  ...{ code, message },
  ...(node_id === undefined ? {} : { node_id }),
  ...(path === undefined ? {} : { path }),
  ...(position === undefined ? {} : { position }),
});

function schemaIssues(graph: Graph | undefined, schemas: Schemas): GraphIssue[] {
  return (graph?.nodes ?? []).flatMap((node, at) =>
    nodeSchemas(node).flatMap(({ code, path, schema, isForm }) => {
      const problem = schemas.problem(schema, isForm);
      if (problem === undefined) return [];
      const message = `Node '${node.id}': ${path} ${problem}`;
      return [{ code, node_id: node.id, path: `nodes[${at}].${path}`, message }];
    }),
  );
}

function toolsOf(tools: readonly PlayedTool[]): Map<string, PlayedTool> {
  return new Map(tools.map((tool) => [customToolName(tool.name) ?? tool.name, tool]));
}

/** The custom tools that the test defines, and those that the graphs call: in a workspace, they can exist. */
function customToolsOf(
  tools: ReadonlyMap<string, PlayedTool>,
  graphs: readonly Drawn[],
): CustomToolDefinitions {
  const called = graphs.flatMap(({ graph }) => nodesIn(graph).flatMap(toolNamesOf));
  const names = called.flatMap((name) => customToolName(name) ?? []);
  return new Map(
    [...new Set([...tools.keys(), ...names])].map((name) => {
      const { label = '', description = '', input_schema: schema } = tools.get(name) ?? {};
      const input_schema = schema == null ? null : objectOf(schema, `tools: ${name}`);
      return [name, { label, description, input_schema }];
    }),
  );
}

const nodesIn = (graph: Json): Json[] => {
  const nodes = isRecord(graph) ? graph['nodes'] : undefined;
  return Array.isArray(nodes) ? (nodes as Json[]) : [];
};

/** How agents offer the workflows of the test. A mock without a schema takes any arguments. */
function workflowsOf(
  options: PlayOptions,
  given: readonly (readonly [string, Drawn])[],
): WorkflowDefinitions {
  const played = new Map(given);
  return new Map(
    Object.keys(options.workflows ?? {}).map((key) => {
      const { name = key, description = '', inputSchema } = played.get(key) ?? {};
      const input_schema = inputSchema ?? (played.has(key) ? null : { type: 'object' });
      return [key, { name, description, input_schema }];
    }),
  );
}

/** Without definitions, an agent can offer any workflow; the test then needs a mock of it. */
function workflowsKnown(graph: Json, workflows: WorkflowDefinitions) {
  const offered = nodesIn(graph).flatMap(toolNamesOf);
  const all = offered.every(
    (name) => !name.startsWith('workflow:') || workflows.has(name.slice(9)),
  );
  return all ? { workflows } : {};
}

function startOf({ clock = {} }: PlayOptions): number {
  try {
    return timeOf(clock.start ?? START);
  } catch (error) {
    throw new PlayError(`clock.start: ${messageOf(error).replace('until must', 'must')}`);
  }
}

function eventsOf({ events = [] }: PlayOptions, start: number): World['events'] {
  return events
    .map((event, at) => ({
      ...event,
      id: event.id ?? `evt_${at + 1}`,
      at: start + secondsOf(event.after_seconds ?? 0, `events[${at}]`) * 1_000,
    }))
    .sort((one, other) => one.at - other.at);
}
