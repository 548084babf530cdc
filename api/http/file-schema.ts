import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  WORKFLOW_FILE_SCHEMA,
  workflowFileJsonSchema,
} from '#shared/contract/workflows/workflow-file.ts';

/** It only changes with the service. */
const TTL_SECONDS = 3_600;

/** The JSON Schema of workflow files, which editors load without a credential. */
export function serveFileSchema(app: FastifyInstance): void {
  app.get(WORKFLOW_FILE_SCHEMA, {
    schema: { hide: true, response: { 200: z.string() } },
    config: { capability: 'public' },
    // It is text already.
    serializerCompiler: () => (schema) => schema as string,
    handler: (_request, reply) =>
      reply
        .header('cache-control', `public, max-age=${TTL_SECONDS}`)
        .type('application/schema+json; charset=utf-8')
        .send(JSON.stringify(workflowFileJsonSchema())),
  });
}
