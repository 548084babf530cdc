import { z } from 'zod';
import { limitsInput, limitsOrNull } from '#shared/contract/limits/limits.ts';
import { graphSchema } from './graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { evaluationChecksInput } from './evaluation-check.ts';
import { workflowFields } from './workflow.ts';

/** The content of a file: the settings of one workflow. An omitted setting keeps its value in the workspace. */
export const workflowFileSchema = workflowFields.extend({
  $schema: z.string().max(2_000).optional().meta({
    description: 'The address of this schema, for editors',
  }),
  id: z.string().min(1).max(100).optional().meta({
    description: 'Identifies the workflow instead of the name, so that the file can rename it',
  }),
  name: workflowFields.shape.name.unwrap(),
  checks: evaluationChecksInput.optional(),
  limits: limitsInput.nullable().transform(limitsOrNull).optional().meta({
    description: 'How many runs are in flight and start; null: no limits',
  }),
});

/** Where the service publishes the schema of workflow files, below its address. */
export const WORKFLOW_FILE_SCHEMA = '/schemas/workflow.json';

/** Each call of `z.toJSONSchema` takes milliseconds. */
let jsonSchema: WorkflowFileSchema | undefined;

interface WorkflowFileSchema extends JsonObject {
  definitions: Record<string, JsonObject>;
}

/**
 * The JSON Schema of workflow files, for editors. Draft 7: some support none of the later ones. Its graphs can run; drafts
 * can be saved with others.
 */
export const workflowFileJsonSchema = (): WorkflowFileSchema => (jsonSchema ??= makeSchema());

function makeSchema(): WorkflowFileSchema {
  const runnable = workflowFileSchema.extend({ graph: graphSchema.optional() });
  const { $schema, ...schema } = z.toJSONSchema(runnable, {
    io: 'input',
    target: 'draft-7',
    // Their metadata says what they are.
    unrepresentable: 'any',
  });
  return { $schema, title: 'Workflow', ...schema } as unknown as WorkflowFileSchema;
}
