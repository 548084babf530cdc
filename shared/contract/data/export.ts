import { z } from 'zod';

export const MAX_EXPORT_ROWS = 10_000;

const exportKinds = ['entities', 'events'] as const;
export type ExportKind = (typeof exportKinds)[number];

export const exportRequest = z
  .strictObject({
    kind: z.enum(exportKinds),
    format: z.enum(['json', 'csv']),
    feed_id: z.string().min(1).max(100).optional().meta({ description: 'Default: all feeds' }),
  })
  .meta({ examples: [{ kind: 'entities', format: 'csv' }] });
export type ExportRequest = z.infer<typeof exportRequest>;
