import { z } from 'zod';
import type { Json } from '#shared/json.ts';

/**
 * JSON of a column, as this service has stored it. It is not validated again: it was when it came from outside, and
 * walking through it takes seconds for a few megabytes, on the thread of all tenants.
 */
export const storedJson = <T = Json>(): z.ZodType<T> => z.custom<T>();
