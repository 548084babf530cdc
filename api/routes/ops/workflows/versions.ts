import { z } from 'zod';
import { jsonValue, pageQuery, wholeNumber } from '#shared/contract/common.ts';
import {
  diffQuery,
  inputSchemaField,
  versionListSchema,
  workflowVersionSchema,
} from '#shared/contract/workflows/workflow.ts';
import { listVersions, readVersion } from '#shared/db/workflows/versions.ts';
import { AppError } from '#shared/errors.ts';
import { diffSchemas } from '#shared/graph/diff.ts';
import { diffGraphsUntrusted } from '#shared/platform/threads/untrusted.ts';
import { idParams, responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';

const MAX_VERSION = 2_147_483_647;

const versionParams = z.strictObject({
  id: z.string().min(1),
  version: wholeNumber(1, MAX_VERSION),
});

const partsDiff = z.object({
  added: z.array(jsonValue),
  removed: z.array(jsonValue),
  changed: z.array(z.object({ id: z.string(), paths: z.array(z.string()) })),
});

const schemaDiff = z
  .object({
    from: inputSchemaField,
    to: inputSchemaField,
    paths: z.array(z.string()).meta({
      description: 'The parts that differ, like `properties.age.minimum`; empty where one is null',
    }),
  })
  .nullable()
  .meta({ description: 'Null where the schemas are the same' });

const diffSchema = z
  .object({
    from: z.int(),
    to: z.int(),
    nodes: partsDiff,
    edges: partsDiff,
    input_schema: schemaDiff,
  })
  .meta({ id: 'GraphDiff' });

export function versionRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/workflows/:id/versions', {
    schema: {
      operationId: 'listVersions',
      summary: 'List the versions of a workflow, newest first',
      params: idParams,
      querystring: pageQuery,
      response: responses({ 200: versionListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => {
      const { limit, cursor } = request.query;
      const scope = { workspaceId: request.actor.workspaceId, workflowId: request.params.id };
      const page = await listVersions(db, scope, { limit, below: readCursor(cursor) });
      return {
        versions: page.versions,
        next_cursor: page.next === null ? null : writeCursor(page.next),
      };
    },
  });

  app.get('/api/workflows/:id/versions/:version', {
    schema: {
      operationId: 'getVersion',
      summary: 'Read one version of a workflow',
      params: versionParams,
      response: responses({ 200: workflowVersionSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) =>
      readVersion(db, {
        workspaceId: request.actor.workspaceId,
        workflowId: request.params.id,
        version: request.params.version,
      }),
  });

  app.get('/api/workflows/:id/versions/diff', {
    schema: {
      operationId: 'diffVersions',
      summary: 'Compare two versions of a workflow',
      description:
        'Nodes and edges that were added, removed and changed between the two versions, and the change of the input schema.',
      params: idParams,
      querystring: diffQuery,
      response: responses({ 200: diffSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => {
      const { from, to } = request.query;
      const scope = { workspaceId: request.actor.workspaceId, workflowId: request.params.id };
      const older = await readVersion(db, { ...scope, version: from });
      const newer = await readVersion(db, { ...scope, version: to });
      return {
        from,
        to,
        ...(await diffGraphsUntrusted(scope.workspaceId, older.graph, newer.graph)),
        input_schema: diffSchemas(older.input_schema, newer.input_schema),
      };
    },
  });
}

/** The next page continues below this version. */
const writeCursor = (below: number): string => Buffer.from(`v${below}`).toString('base64url');

function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const below = Number(/^v(\d{1,10})$/.exec(text)?.[1]);
  if (below >= 1 && below <= MAX_VERSION) return below;
  throw new AppError('invalid', 'cursor: not a cursor of this list');
}
