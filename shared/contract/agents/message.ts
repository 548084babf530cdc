import { z } from 'zod';
import { dollars, jsonObject, jsonValue, timestamp } from '#shared/contract/common.ts';
import { usageSchema } from '#shared/contract/steps/step.ts';

/** A call as the model requested it. */
const messageCallSchema = z
  .object({
    index: z.int().meta({ description: 'Its number in the turn, from 1' }),
    step_key: z.string().nullable().meta({
      description: 'The step of the call; null for a refused call, which has none',
    }),
    tool: z.string(),
    arguments: z
      .union([jsonObject, z.string()])
      .nullable()
      .meta({
        description:
          'As the model gave them; text when they are not a JSON object. Null for a call that needs approval, for a caller without ' +
          'the capability approve_gates',
      }),
    refusal: z.string().nullable().meta({ description: 'Why the call was not made' }),
  })
  .meta({ id: 'MessageCall' });

/** One message of an agent's conversation. */
const messageSchema = z
  .discriminatedUnion('role', [
    z.object({ role: z.literal('system'), text: z.string() }).meta({ id: 'SystemMessage' }),
    z.object({ role: z.literal('user'), text: z.string() }).meta({ id: 'UserMessage' }),
    z
      .object({
        role: z.literal('assistant'),
        turn: z.int(),
        step_key: z.string(),
        text: z.string(),
        calls: z.array(messageCallSchema),
        model: z.string().nullable(),
        usage: usageSchema.nullable(),
        cost_usd: dollars,
        unpriced: z
          .boolean()
          .optional()
          .meta({ description: 'The model has no price, so the cost is unknown' }),
        at: timestamp,
      })
      .meta({ id: 'AssistantMessage' }),
    z
      .object({
        role: z.literal('tool'),
        turn: z.int(),
        index: z.int(),
        step_key: z.string().nullable(),
        tool: z.string(),
        content: jsonValue.meta({ description: 'The result, or the error' }),
        is_error: z.boolean(),
      })
      .meta({ id: 'ToolMessage' }),
  ])
  .meta({ id: 'Message' });

export const messageListSchema = z
  .object({ messages: z.array(messageSchema) })
  .meta({ id: 'MessageList' });

export type Message = z.infer<typeof messageSchema>;
