import { z } from 'zod';
import type { Json } from '#shared/json.ts';

/**
 * JSON of a column, as this service stored it. It is not validated again: it was validated when it arrived, and walking
 * through a few megabytes takes seconds on the thread of all tenants.
 */
export const storedJson = <T = Json>(): z.ZodType<T> => z.custom<T>();
