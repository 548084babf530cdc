import { z } from 'zod';
import { secretSchema } from '#shared/contract/secrets/secret.ts';
import { listSecrets } from '#shared/db/secrets/secrets.ts';
import { defineTool, looksOnly } from './tool.ts';

/** No tool sets a secret, because its value would pass through a model and its provider. */
export const secretTools = [
  defineTool({
    name: 'list_secrets',
    title: 'List secrets',
    description:
      'Lists the names of the secrets of the workspace and the hosts that may receive them, never their values. ' +
      'Graphs refer to one as {secrets.NAME} in headers, query and body of http_request and in headers of mcp.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({}),
    output: z.object({ secrets: z.array(secretSchema) }),
    handle: async ({ context, actor }) => ({
      secrets: [...(await listSecrets(context.db, actor.workspaceId))],
    }),
  }),
];
