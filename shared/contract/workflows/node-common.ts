import { z } from 'zod';
import type { Json } from '#shared/json.ts';

/** The fields that all nodes share. */

/** The longest deadline, and the longest wait. */
export const MAX_WAIT_SECONDS = 31_536_000;

/** Names that can reach an object's prototype in careless code; not allowed for nodes and keys. */
const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Each text has its own limit, so that the error can name the text before the size of the whole graph is checked. */
const MAX_TEXT = 200_000;

// Every body was just parsed from JSON text, so validating it again would only cost time.
export const json = z.unknown() as unknown as z.ZodType<Json>;
export const jsonObject = z.record(z.string(), json);
export const text = z.string().max(MAX_TEXT);

// '#' separates a node id from its loop iterations in a step key, so an id cannot contain it.
const NODE_ID = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;

// A check instead of a pattern: client generators translate patterns into languages without Unicode classes.
const nodeId = z
  .string()
  .min(1)
  .max(100)
  .refine(
    (id) => NODE_ID.test(id),
    "can contain letters, digits and the characters '_', '-', '.' and ':'",
  )
  .refine((id) => !RESERVED_NAMES.includes(id), 'is a reserved name')
  .meta({
    description:
      'Letters and digits of any script, `_`, `-`, `.` and `:`; starts with a letter, a digit or `_`',
  });

export const outputKey = z
  .string()
  .min(1)
  .max(100)
  .refine((key) => !RESERVED_NAMES.includes(key), 'is a reserved name');

export const retrySchema = z
  .strictObject({
    max_attempts: z.int().min(1).max(100).default(1),
    initial_interval_seconds: z.number().min(0).max(3600).default(1),
    backoff: z.number().min(1).max(10).default(2),
  })
  .meta({ id: 'NodeRetry' });
export type NodeRetry = z.infer<typeof retrySchema>;

const positionSchema = z
  .strictObject({ x: z.number(), y: z.number() })
  .meta({ id: 'NodePosition' });

export const common = {
  id: nodeId,
  label: z.string().max(200).optional().meta({ description: 'Its name for people' }),
  position: positionSchema.optional().meta({ description: 'Where the editor draws it' }),
  retry: retrySchema.optional().meta({ description: 'How often a failed attempt is repeated' }),
  timeout_seconds: z
    .number()
    .positive()
    .max(604_800)
    .optional()
    .meta({ description: 'The deadline of one attempt' }),
};
