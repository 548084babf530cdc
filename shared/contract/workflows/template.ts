import { z } from 'zod';
import { jsonObject, jsonValue, timestamp } from '#shared/contract/common.ts';
import { evaluationChecksInput } from './evaluation-check.ts';
import { etag } from '#shared/contract/if-match.ts';
import { limitsInput, templateLimits } from '#shared/contract/limits/limits.ts';
import { inputSchemaField, workflowCreateBody, workflowSchema } from './workflow.ts';

export const templateSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    built_in: z.boolean().meta({ description: 'It is built in and cannot be changed' }),
    graph: workflowSchema.shape.graph,
    input_schema: inputSchemaField,
    checks: z.array(jsonValue),
    limits: templateLimits.nullable().meta({
      description: 'The limits of the workflows created from it; null: none',
    }),
    sample_input: jsonObject.meta({ description: 'An example input' }),
    created_at: timestamp.nullable().meta({ description: 'Null for built-in ones' }),
    etag,
  })
  .meta({ id: 'Template' });

const { name, description } = workflowCreateBody.shape;
const graph = workflowCreateBody.shape.graph.unwrap();
const limits = limitsInput.nullable().meta({
  description: 'As in `PUT /api/workflows/{id}/limits`; null: none',
});
const sampleInput = jsonObject.meta({ description: 'An example input' });

const fromGraph = z
  .strictObject({
    name,
    description,
    graph,
    input_schema: inputSchemaField.optional(),
    checks: evaluationChecksInput.default([]),
    limits: limits.default(null),
    sample_input: sampleInput.default({}),
  })
  .meta({ id: 'TemplateFromGraph' });

const fromWorkflow = z
  .strictObject({
    workflow_id: z.string().min(1).max(100).meta({
      description: 'Its current graph, its input schema, its checks and its limits are copied',
    }),
    name: name.optional().meta({ description: "The workflow's name by default" }),
    description: description.unwrap().optional(),
    sample_input: sampleInput.default({}),
  })
  .meta({ id: 'TemplateFromWorkflow' });

export const templateCreateBody = z.union([fromGraph, fromWorkflow]).meta({
  examples: [
    {
      name: 'Answer with approval',
      graph: {
        nodes: [
          { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}', model: 'mock' },
          { id: 'review', kind: 'human_gate', prompt: 'Send it?' },
        ],
        edges: [{ source: 'draft', target: 'review' }],
      },
      sample_input: { ticket: 'I was charged twice' },
    },
  ],
});

export const templateUpdateBody = z
  .strictObject({
    name: name.optional(),
    description: description.unwrap().optional(),
    graph: graph.optional(),
    input_schema: inputSchemaField.optional(),
    checks: evaluationChecksInput.optional(),
    limits: limits.optional(),
    sample_input: sampleInput.optional(),
  })
  .meta({ examples: [{ description: 'For the support team' }] });

export const instantiateBody = z
  .strictObject({
    name: name.optional().meta({ description: "The template's name by default" }),
    description: description.unwrap().optional(),
  })
  .nullish()
  .meta({ examples: [{ name: 'Answer tickets' }] });

export type Template = z.infer<typeof templateSchema>;
export type TemplateCreate = z.infer<typeof templateCreateBody>;
export type TemplateUpdate = z.infer<typeof templateUpdateBody>;
