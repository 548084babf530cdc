import { z } from 'zod';
import { jsonObject, jsonValue } from '#shared/contract/common.ts';
import { graphIssueSchema } from '#shared/contract/workflows/graph.ts';
import {
  draftBody,
  workflowCreateBody,
  workflowSchema,
} from '#shared/contract/workflows/workflow.ts';
import { workflowFileJsonSchema } from '#shared/contract/workflows/workflow-file.ts';
import { readDraft } from '#shared/db/workflows/drafts.ts';
import { createWorkflow, readWorkflow } from '#shared/db/workflows/workflows.ts';
import { issuePath } from '#shared/graph/issues.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type BuiltinTool, type ToolParams, toolParams } from '#shared/tools.ts';
import { requireInputSchema } from '#shared/operations/workflows/workflow-input.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import { defineTool, looksOnly } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

/** A list of more is read from its beginning: the first ones are often the cause of the others. */
const MAX_EXPLAINED = 30;

/** The guide about each kind of node, besides `graphs`. */
const GUIDES: Record<string, string> = {
  agent: 'agents',
  tool: 'tools',
  code: 'code',
  workflow: 'sub-workflows',
  human_gate: 'approvals',
  wait: 'waiting',
};

/** Problems between nodes, and names of built-in tools: the guide about the kind of one node does not explain them. */
const OF_THE_GRAPH: ReadonlySet<string> = new Set([
  ...['cycle', 'unreachable', 'unknown_tool', 'unknown_param', 'missing_param'],
]);

const drawn = z.looseObject({ nodes: z.array(jsonValue), edges: z.array(jsonValue) });

const explained = graphIssueSchema.extend({
  severity: z.enum(['error', 'warning']),
  value: jsonValue.optional().meta({ description: 'What is at `path` now' }),
  schema: z
    .string()
    .optional()
    .meta({ description: 'The key in `schemas` that the part must fit' }),
  choices: z
    .array(z.string())
    .optional()
    .meta({ description: 'The built-in tools, or the parameters of the tool, that can be there' }),
  guide: z.string().meta({ description: 'The resource to read about it' }),
});

export const validationTools = [
  defineTool({
    name: 'create_workflow',
    title: 'Create a workflow',
    description:
      'Creates a workflow that nothing runs until it is published. The graph can be incomplete: the resource ' +
      'schema://workflow says what it can contain, and explain_validation what is wrong with it.',
    capability: 'create_edit_workflows',
    annotations: {
      ...{ readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      openWorldHint: false,
    },
    input: z.strictObject({
      ...workflowCreateBody.shape,
      graph: drawn.default({ nodes: [], edges: [] }),
    }),
    output: workflowSchema.extend({ graph: drawn }),
    handle: async ({ context: { db }, actor }, body) => {
      await requireInputSchema(actor.workspaceId, body.input_schema);
      const workflowId = await createWorkflow(db, actor, body);
      return readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    },
  }),
  defineTool({
    name: 'explain_validation',
    title: 'Explain what is wrong with a workflow',
    description:
      'Checks the saved graph, its draft (draft: true), or a graph that you pass, which is not saved. Each problem has the ' +
      'value that is there now, the schema or the names that it must fit, and the guide to read.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      workflow: workflowArgument,
      draft: z.boolean().default(false),
      graph: drawn.optional(),
      input_schema: draftBody.shape.input_schema,
    }),
    output: z.object({
      valid: z.boolean(),
      problems: z.array(explained),
      more: z.int().meta({ description: 'Further problems, which are not listed' }),
      schemas: z.record(z.string(), jsonObject),
    }),
    handle: async (call, { workflow, draft, ...given }) => {
      const scope = await scopeOf(call, workflow);
      const { db, config } = call.context;
      const stored = draft ? await readDraft(db, scope) : await readWorkflow(db, scope);
      const graph = (given.graph ?? stored.graph) as JsonObject;
      const inputSchema =
        given.input_schema === undefined ? stored.input_schema : given.input_schema;
      const report = await validateWorkflow(db, scope, config.models, { graph, inputSchema });
      const all = [
        ...report.errors.map((issue) => ({ ...issue, severity: 'error' as const })),
        ...report.warnings.map((issue) => ({ ...issue, severity: 'warning' as const })),
      ];
      const problems = all.slice(0, MAX_EXPLAINED).map((issue) => explain(issue, graph));
      const names = new Set(problems.flatMap(({ schema }) => schema ?? []));
      return {
        valid: report.valid,
        problems,
        more: all.length - problems.length,
        schemas: Object.fromEntries([...names].map((name) => [name, definitionsOf()[name]!])),
      };
    },
  }),
];

const definitionsOf = (): Record<string, JsonObject> => workflowFileJsonSchema().definitions;

/** The name of the schema of a kind of node. */
const schemaOfKind = (kind: Json | undefined): string | undefined =>
  Object.entries(definitionsOf()).find(([, { properties }]) => {
    const own = isObject(properties) ? properties['kind'] : undefined;
    return isObject(own) && own['const'] === kind && kind !== undefined;
  })?.[0];

/** The name of the innermost named schema on the way from this one, such as that of `retry` in a node. */
function innermost(name: string, steps: readonly (string | number)[]): string {
  let found = name;
  let schemas = [definitionsOf()[name] as Json | undefined];
  for (const step of steps) {
    const parts = schemas.flatMap((schema) => below(schema, step));
    found = parts.flatMap(({ ref }) => ref ?? [])[0] ?? found;
    schemas = parts.map(({ schema }) => schema);
  }
  return found;
}

/** The schemas of a key, or of an entry, of what fits a schema; `ref`: its name. */
function below(schema: Json | undefined, step: string | number): Named[] {
  if (!isObject(schema)) return [];
  const { properties, items } = schema;
  const inner =
    typeof step === 'number' ? items : isObject(properties) ? properties[step] : undefined;
  return inner === undefined ? [] : named(inner);
}

interface Named {
  schema: Json | undefined;
  ref?: string;
}

/** A schema with the named ones that it refers to instead. */
function named(schema: Json): Named[] {
  if (!isObject(schema)) return [];
  const { $ref: ref, allOf, anyOf } = schema;
  if (typeof ref === 'string') {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    return [{ schema: definitionsOf()[name], ref: name }];
  }
  const inner = [allOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [{ schema }, ...inner.flatMap(named)];
}

/** What can be at a name that there is not. */
function choicesFor(code: string, node: Json | undefined): string[] | undefined {
  if (code === 'unknown_tool') return Object.keys(toolParams);
  const name = isObject(node) ? node['tool_name'] : undefined;
  if (!/^(?:unknown|missing)_param$/.test(code) || typeof name !== 'string') return undefined;
  if (!Object.hasOwn(toolParams, name)) return undefined;
  const { required, optional }: ToolParams = toolParams[name as BuiltinTool];
  return [...required.flat(), ...optional];
}

function explain<Issue extends z.infer<typeof graphIssueSchema>>(
  issue: Issue,
  graph: JsonObject,
): Issue & { value?: Json; schema?: string; choices?: string[]; guide: string } {
  const steps = issuePath(issue.path ?? '');
  const node = nodeOf(graph, issue.node_id, steps);
  const kind = isObject(node) ? node['kind'] : undefined;
  const value = steps.length === 0 ? node : valueAt(graph, steps);
  const outer = steps[0] === 'edges' ? 'GraphEdge' : schemaOfKind(kind);
  const schema = outer === undefined ? undefined : innermost(outer, steps.slice(2));
  const choices = choicesFor(issue.code, node);
  const guide = OF_THE_GRAPH.has(issue.code) || typeof kind !== 'string' ? undefined : GUIDES[kind];
  return {
    ...issue,
    ...(value === undefined ? {} : { value }),
    ...(schema === undefined ? {} : { schema }),
    ...(choices === undefined ? {} : { choices }),
    guide: `docs://${guide ?? 'graphs'}`,
  };
}

function nodeOf(
  { nodes }: JsonObject,
  id: string | undefined,
  steps: readonly (string | number)[],
): Json | undefined {
  if (!Array.isArray(nodes)) return undefined;
  if (steps[0] === 'nodes' && typeof steps[1] === 'number') return nodes[steps[1]];
  return id === undefined ? undefined : nodes.find((node) => isObject(node) && node['id'] === id);
}

function valueAt(graph: Json, steps: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = graph;
  for (const step of steps) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}
