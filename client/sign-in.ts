import type { CallOptions, Send } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { Identity, Member, Session } from './types.ts';

export function signInMethods(send: Send) {
  return {
    /** Creates a session. Pass its `token` to another client; this client does not change. */
    login: (email: string, password: string, options?: CallOptions): Promise<Session> =>
      send('POST /api/auth/login', [], { body: { email, password }, options }),
    /** Requests membership: the member is `pending` until an admin approves. */
    signup: (body: BodyOf<'POST /api/auth/signup'>, options?: CallOptions): Promise<Member> =>
      send('POST /api/auth/signup', [], { body, options }),
    acceptInvite: (
      body: BodyOf<'POST /api/auth/accept-invite'>,
      options?: CallOptions,
    ): Promise<Session> => send('POST /api/auth/accept-invite', [], { body, options }),
    /** Ends all sessions of the member and returns a new one. */
    changePassword: (
      body: BodyOf<'POST /api/auth/password'>,
      options?: CallOptions,
    ): Promise<Session> => send('POST /api/auth/password', [], { body, options }),
    /** The identity of this client and its capabilities. */
    getIdentity: (options?: CallOptions): Promise<Identity> =>
      send('GET /api/auth/me', [], { options }),
  };
}
