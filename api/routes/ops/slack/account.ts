import { slackAccountInput, slackAccountSchema } from '#shared/contract/slack/account.ts';
import {
  confirmSlackAccount,
  readSlackAccount,
  removeSlackAccount,
} from '#shared/db/slack/people.ts';
import { type Actor, inPerson } from '#shared/people/actor.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { nothing, responses } from '#api/http/responses.ts';

export function slackAccountRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/slack/account', {
    schema: {
      operationId: 'getSlackAccount',
      summary: 'Read which account of Slack decides as you, and which one wants to',
      response: responses({ 200: slackAccountSchema }),
    },
    config: { capability: 'authenticated' },
    handler: async ({ actor: { workspaceId, id } }) =>
      id === null
        ? { confirmed: null, asked: null }
        : readSlackAccount(db, { workspaceId, memberId: id }),
  });

  app.post('/api/slack/account', {
    schema: {
      operationId: 'confirmSlackAccount',
      summary: 'Confirm that an account of Slack is yours',
      description:
        'It must have clicked a button of the workspace in Slack in the last 24 hours, and have your email there. From then on it ' +
        'decides as you; it replaces the account that did. Only for a member who is signed in.',
      body: slackAccountInput,
      response: responses({ 200: slackAccountSchema }, 'conflict'),
    },
    config: { capability: 'view' },
    handler: async ({ actor, body }) => confirmSlackAccount(db, owner(actor), body),
  });

  app.delete('/api/slack/account', {
    schema: {
      operationId: 'removeSlackAccount',
      summary: 'Forget your account of Slack: nothing decides as you there any longer',
      response: responses({ 204: nothing }),
    },
    config: { capability: 'authenticated' },
    handler: async ({ actor }, reply) => {
      await removeSlackAccount(db, owner(actor));
      return reply.code(204).send();
    },
  });
}

const owner = (actor: Actor) => inPerson(actor, 'change which account of Slack is theirs');
