import { z } from 'zod';
import { jsonObject, jsonValue, timestamp } from '#shared/contract/common.ts';
import { rehearsalShape, rerunFields, withOneGraph } from '#shared/contract/forks/fork.ts';
import { runSchema } from '#shared/contract/runs/run.ts';
import { stepSchema } from '#shared/contract/steps/step.ts';

const id = z.string().min(1).max(100);
const stepKey = z.string().min(1).max(1_000);

export const nodeTestFields = {
  run_id: id.optional().meta({
    description: 'A run of this workflow: the node begins with the state that it had there',
  }),
  step_key: stepKey.optional().meta({
    description:
      'The step of that run, for a node in a loop or a map. The default is the last one of this node',
  }),
  state: jsonObject.optional().meta({
    description: 'Laid over the state of the run; without a run, the whole state',
  }),
  version: rerunFields.version.meta({
    description: 'The version that has the node; the default is the current one',
  }),
  draft: rerunFields.draft.meta({ description: "Tests the node of the workflow's draft" }),
  allow: rehearsalShape.allow.optional().meta({
    description:
      'What the test may execute: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes',
  }),
  pins: z.boolean().optional().meta({
    description: "Replaces the outputs of other nodes by the caller's pinned ones",
  }),
};

/** Adds where the state comes from. */
export const withState = <
  Fields extends z.ZodObject<Pick<typeof nodeTestFields, 'run_id' | 'state' | 'step_key' | 'pins'>>,
>(
  fields: Fields,
) =>
  fields.superRefine(({ run_id, state, step_key, pins }, context) => {
    if (run_id !== undefined) return;
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (state === undefined) refuse('run_id', 'is required without state');
    if (step_key !== undefined) refuse('step_key', 'needs run_id');
    if (pins === true) refuse('pins', 'needs run_id');
  });

export const nodeTestBody = withState(withOneGraph(z.strictObject(nodeTestFields))).meta({
  examples: [{ state: { ticket: 'I was charged twice' } }],
});

export const nodeTestSchema = z
  .object({
    run_id: z.string().meta({ description: 'The rehearsal that has executed the node' }),
    status: runSchema.shape.status.meta({
      description: '`pending` or `running`: read the run later',
    }),
    step: stepSchema
      .nullable()
      .meta({ description: 'The step with its input, and its output or error; null before it' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'NodeTest' });

export type NodeTest = z.infer<typeof nodeTestSchema>;

/** The maximum number of pins per member and workflow. */
export const MAX_PINS = 100;
/** The maximum size of a pinned output as JSON, in bytes. */
export const MAX_PIN_BYTES = 262_144;

export const pinFields = {
  run_id: id.meta({ description: 'A run of this workflow' }),
  step_key: stepKey.optional().meta({
    description: 'Its step; the default is the last step of the node that has an output',
  }),
  output: jsonValue.optional().meta({
    description:
      'Pinned instead of the output of that step. It must fit the `response_schema` that the node has in the draft, or else in the current version',
  }),
};

/** Of a list of pins. */
export const pinsQuery = z.strictObject({
  node_id: id.optional().meta({ description: 'Only the pin of this node, with its `output`' }),
});

export const pinBody = z
  .strictObject(pinFields)
  .meta({ examples: [{ run_id: 'run_00000000000000000000000000' }] });

export const pinSchema = z
  .object({
    node_id: z.string(),
    run_id: z.string().meta({ description: 'The run that had this output; it may be removed' }),
    step_key: z.string(),
    bytes: z.int().meta({ description: 'Of the output' }),
    edited: z.boolean().meta({ description: 'Whether the request that pinned it gave the output' }),
    output: jsonValue.optional().meta({ description: 'Only in the list of one `node_id`' }),
    pinned_at: timestamp,
  })
  .meta({ id: 'Pin' });

export const pinListSchema = z.object({ pins: z.array(pinSchema) }).meta({ id: 'PinList' });

export type Pin = z.infer<typeof pinSchema>;
