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

const drawn = z.looseObject({ nodes: z.array(jsonValue), edges: z.array(jsonValue) });

const explained = graphIssueSchema.extend({
  severity: z.enum(['error', 'warning']),
  value: jsonValue.optional().meta({ description: 'What is at `path` now' }),
  schema: z
    .string()
    .optional()
    .meta({ description: 'The key in `schemas` that the part must fit' }),
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
      'value that is there now, the schema that it must fit, and the guide to read.',
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
      const { definitions } = workflowFileJsonSchema();
      return {
        valid: report.valid,
        problems,
        more: all.length - problems.length,
        schemas: Object.fromEntries([...names].map((name) => [name, definitions[name]!])),
      };
    },
  }),
];

/** The name of the schema of a kind of node. */
const schemaOfKind = (kind: Json | undefined): string | undefined =>
  Object.entries(workflowFileJsonSchema().definitions).find(([, { properties }]) => {
    const own = isObject(properties) ? properties['kind'] : undefined;
    return isObject(own) && own['const'] === kind && kind !== undefined;
  })?.[0];

function explain<Issue extends z.infer<typeof graphIssueSchema>>(
  issue: Issue,
  graph: JsonObject,
): Issue & { value?: Json; schema?: string; guide: string } {
  const steps = issuePath(issue.path ?? '');
  const node = nodeOf(graph, issue.node_id, steps);
  const kind = isObject(node) ? node['kind'] : undefined;
  const value = steps.length === 0 ? node : valueAt(graph, steps);
  const schema = steps[0] === 'edges' ? 'GraphEdge' : schemaOfKind(kind);
  const guide = typeof kind === 'string' ? GUIDES[kind] : undefined;
  return {
    ...issue,
    ...(value === undefined ? {} : { value }),
    ...(schema === undefined ? {} : { schema }),
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
