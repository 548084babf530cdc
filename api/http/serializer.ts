import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { forkSchema } from '../../shared/contract/fork.ts';
import { nodeTestSchema } from '../../shared/contract/node-test.ts';
import { runSchema } from '../../shared/contract/run.ts';
import { stepListSchema } from '../../shared/contract/step.ts';
import { jsonOf } from '../../shared/values/json-text.ts';

/**
 * Responses with payloads of steps, which can be megabytes. Their records are built field by field, and the tests check
 * each of them against its schema. To check them here would parse all payloads, and write them again.
 */
const withPayloads = new Set<z.ZodType>([runSchema, forkSchema, nodeTestSchema, stepListSchema]);

/** Writes responses as JSON, checked against the schema of their route. */
export const serializer: typeof serializerCompiler = (route) =>
  withPayloads.has(route.schema as z.ZodType) ? jsonOf : serializerCompiler(route);
