import { gateChangedSchema } from '#shared/contract/gates/consequences.ts';
import {
  decideLinkBody,
  linkDecisionSchema,
  openedLinkSchema,
  openLinkBody,
} from '#shared/contract/gates/decide-link.ts';
import { decideByLink, openLink } from '#shared/operations/gates/decide-by-link.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import { responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** Decisions by the link of an email: the token is the credential. */
export function decideRoutes(app: App, context: RouteContext): void {
  const { db, inFlight } = context;

  app.post('/api/decide/open', {
    schema: {
      operationId: 'openDecideLink',
      summary: 'Read the gate of a link in an email',
      description:
        'The token is the credential. Changes nothing. 404 for every unknown token; 410 if the link has expired, or the ' +
        'workspace has turned links off; 403 if the member has left or can no longer decide; 409 if the gate is not open.',
      security: [],
      body: openLinkBody,
      response: responses({ 200: openedLinkSchema }, 'not_found', 'forbidden', 'conflict', 'gone'),
    },
    config: { capability: 'public' },
    handler: async ({ body, ips, ip }) =>
      openLink(db, { ...body, address: clientNetwork({ ips, ip }) }),
  });

  app.post('/api/decide', {
    schema: {
      operationId: 'decideByLink',
      summary: 'Decide a gate with the link of an email',
      description:
        'Decides as the member who got the email, by the rules of `approve` at that moment, and is recorded as `by_link`. A ' +
        'link works once; the same decision again is 200. A refused form or an older `digest` does not use it up: 409 has ' +
        '`current`, what the gate shows now, or after a recheck `stale`, which `accept_changes` accepts.',
      security: [],
      body: decideLinkBody,
      response: responses(
        { 200: linkDecisionSchema, 409: gateChangedSchema },
        'not_found',
        'forbidden',
        'gone',
      ),
    },
    config: { capability: 'public' },
    handler: async ({ body, ips, ip }) => {
      const address = clientNetwork({ ips, ip });
      const { dispatched, ...made } = await decideByLink(context, { ...body, address });
      await inFlight.add(dispatched);
      return made;
    },
  });
}
