import { z } from 'zod';

const check = z.enum(['ok', 'down']);

export const healthSchema = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    checks: z.object({ database: check, temporal: check, worker: check, migrations: check }),
  })
  .meta({ id: 'Health' });

export type Health = z.infer<typeof healthSchema>;
