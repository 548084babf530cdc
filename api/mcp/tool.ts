import type { InputRequiredResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { Capability } from '#shared/people/capabilities.ts';
import type { IfMatch } from '#shared/contract/if-match.ts';
import { idempotencyKeySchema } from '#shared/contract/runs/run.ts';
import type { RouteContext } from '#api/deps.ts';
import { type Act, actOnce, keyOfCall } from '#api/http/idempotency.ts';
import type { RunActions } from '#api/run-actions.ts';

/** The dependencies and the caller of a tool. */
export interface ToolCall {
  context: RouteContext;
  actions: RunActions;
  actor: Actor;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** How the client's person can be asked; undefined if the client does not offer it. */
  elicitation?: Elicitation | undefined;
}

/** What the client of a call offers to ask its person, and what it sends with an answer. */
export interface Elicitation {
  /** Forms, and addresses to open. */
  modes: { form: boolean; url: boolean };
  /** The digest of the tool and its arguments. */
  call: string;
  /** The sealed question that the call answers. */
  state: string | undefined;
  responses: Record<string, unknown> | undefined;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  /** For a model: what the tool does, when to use it, and what to do next. */
  description: string;
  /** Who can call it. */
  capability: Capability;
  annotations: ToolAnnotations;
  input: Input;
  output: Output;
  /** Throws AppErrors, whose text becomes the tool's error. */
  handle(call: ToolCall, args: z.output<Input>): Promise<z.input<Output> | InputRequiredResult>;
  /** What a model should know about a result, besides its JSON. */
  explain?(result: z.output<Output>, call: ToolCall): string | undefined;
}

export interface McpTool extends Definition<z.ZodObject, z.ZodObject> {
  /** The tool in the format of `tools/list`. */
  listed: Tool;
}

/** Annotations of tools that only read what the service stores. */
export const looksOnly = { readOnlyHint: true, openWorldHint: false };

/** Annotations of tools that add or change something in the service, or with `openWorldHint` elsewhere. */
export const changes = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** The argument of every tool that changes or deletes one record that people edit. */
export const ifMatchArgument = (noun: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description: `The etag of the ${noun} as you read it: if someone else has changed it meanwhile, the call is refused with its current state`,
    });

export const matchOf = (etag: string | undefined): IfMatch | undefined =>
  etag === undefined ? undefined : [etag];

/** The argument of every tool that costs or starts something, except runs, which have their own. */
export const idempotencyKeyArgument = idempotencyKeySchema.optional().meta({
  description:
    'Pass the same one when you repeat a call: it then does nothing more, and returns the first result for 24 hours',
});

/** Acts once per `idempotency_key` in these arguments, and returns the result; see `actOnce`. */
export async function callOnce<Answer extends object>(
  { context, actor }: ToolCall,
  tool: string,
  args: { idempotency_key?: string | undefined },
  act: Act<Answer>,
): Promise<Answer> {
  const { answer } = await actOnce(context, keyOfCall(actor, tool, args), act);
  return answer;
}

/** A tool, with its schemas generated once for all requests. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): McpTool {
  const { name, title, description, annotations, input, output } = definition;
  return {
    ...(definition as unknown as Definition<z.ZodObject, z.ZodObject>),
    listed: {
      name,
      title,
      description,
      annotations: { title, ...annotations },
      inputSchema: asJsonSchema(input, 'input') as Tool['inputSchema'],
      // A named schema would only be a reference, but clients need an object.
      outputSchema: asJsonSchema(z.object(output.shape), 'output') as Tool['outputSchema'],
    },
  };
}

const asJsonSchema = (schema: z.ZodObject, io: 'input' | 'output'): unknown =>
  z.toJSONSchema(schema, {
    io,
    // Payloads are any JSON: they are described, not parsed.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The range of integers that JSON can represent applies to all of them, and would only add noise.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === 'output') delete jsonSchema.examples;
    },
  });
