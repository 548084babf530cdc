import type { CallOptions, Send } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { OwnSlackAccount } from './types.ts';

export function slackMethods(send: Send) {
  return {
    /** The account that decides as you in Slack, and one that wants to. */
    getSlackAccount: (options?: CallOptions): Promise<OwnSlackAccount> =>
      send('GET /api/slack/account', [], { options }),
    /** Confirms that an account is yours, after it has clicked a button in Slack. Needs a session. */
    confirmSlackAccount: (
      body: BodyOf<'POST /api/slack/account'>,
      options?: CallOptions,
    ): Promise<OwnSlackAccount> => send('POST /api/slack/account', [], { body, options }),
    /** Nothing decides as you in Slack any longer. */
    removeSlackAccount: (options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/slack/account', [], { options }),
  };
}
