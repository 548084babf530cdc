import { z } from 'zod';
import { common, outputKey } from './node-common.ts';

export const codeLanguages = ['javascript', 'typescript'] as const;

export const MAX_CODE_SECONDS = 10;

export const codeSource = z.string().min(1).max(65_536);

/** Computes with a function over the run's state, in a sandbox without network, files or timers. */
export const codeNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('code'),
    source: codeSource.meta({
      description:
        'A module whose `export default` is a function of the state. What it returns, as JSON, is the output',
    }),
    language: z.enum(codeLanguages).default('javascript'),
    timeout_seconds: z
      .number()
      .positive()
      .max(MAX_CODE_SECONDS)
      .optional()
      .meta({ description: 'Its processor time; the default is 2' }),
    output_key: outputKey
      .optional()
      .meta({ description: "State key of the output; the default is the node's id" }),
  })
  .meta({ id: 'CodeNode' });
