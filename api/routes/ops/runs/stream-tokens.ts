import { streamTokenBody, streamTokenSchema } from '#shared/contract/runs/stream.ts';
import { readStreamPlace } from '#shared/db/runs/frames.ts';
import { notFound } from '#shared/errors.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { minterOf } from '#api/stream/credentials.ts';

/** Tokens for browsers of others, which read the stream of one run and nothing else. */
export function streamTokenRoutes(app: App, { db, streamTokens }: RouteContext): void {
  app.post('/api/runs/:id/stream-token', {
    schema: {
      operationId: 'createStreamToken',
      summary: "Create a token that only reads this run's stream",
      description:
        'For a page that follows one run: `GET /api/runs/{id}/stream?token=`, as a WebSocket or as server-sent events. All ' +
        'other routes refuse it. It is not stored. It ends when it expires, or when its creator loses access: the member is ' +
        'removed, signs out everywhere or can no longer view runs, or the API key is revoked.',
      params: idParams,
      body: streamTokenBody,
      response: responses({ 200: streamTokenSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, credential, params: { id: runId }, body }) => {
      const known = await readStreamPlace(db, { workspaceId: actor.workspaceId, runId });
      if (known === undefined) throw notFound('Run');
      const grant = { runId, minter: minterOf(credential) };
      const { token, expiresAt } = await streamTokens.issue(grant, body?.expires_in ?? 300);
      return { run_id: runId, token, expires_at: expiresAt.toISOString() };
    },
  });
}
