import { z } from 'zod';
import { connectionSchema } from '#shared/contract/connections/connection.ts';
import { listConnections } from '#shared/db/connections/connections.ts';
import { defineTool, looksOnly } from './tool.ts';

/** No tool signs in, and none stores a client secret: it would pass through a model and its provider. */
export const connectionTools = [
  defineTool({
    name: 'list_connections',
    title: 'List connections',
    description:
      'Lists the OAuth connections of the workspace, the hosts that may receive their tokens, and whether someone has ' +
      'signed in. Graphs refer to the access token of one as {connections.NAME} wherever a secret may stand, such as ' +
      'Bearer {connections.NAME} in a header. People sign in on the page Connections.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({}),
    output: z.object({ connections: z.array(connectionSchema) }),
    handle: async ({ context, actor: { workspaceId, id } }) => ({
      connections: await listConnections(context.db, {
        workspaceId,
        memberId: id,
        publicUrl: context.config.api.publicUrl,
      }),
    }),
  }),
];
