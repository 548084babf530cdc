import { heldCapabilities } from '#shared/people/capabilities.ts';
import { memberSchema } from '#shared/contract/people/member.ts';
import {
  acceptInviteInput,
  type Identity,
  identitySchema,
  loginInput,
  passwordChange,
  sessionSchema,
  signupInput,
} from '#shared/contract/people/session.ts';
import { toMember } from '#shared/db/people/members.ts';
import { type Account, readAccount } from '#shared/db/people/sign-ins.ts';
import { AppError } from '#shared/errors.ts';
import {
  joinByInvite,
  replacePassword,
  requestMembership,
  signIn,
} from '#shared/operations/people/sign-in.ts';
import { responses } from '#api/http/responses.ts';
import type { Caller, App, RouteContext } from '#api/deps.ts';
import { clientNetwork } from '#api/http/client-address.ts';

const session = responses({ 200: sessionSchema }, 'too_large', 'unsupported_media_type');

export function authRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.post('/api/auth/login', {
    schema: {
      operationId: 'login',
      summary: 'Sign in with email and password',
      description:
        'Returns the same 401 for an unknown email and a wrong password, 403 while the account waits for approval, ' +
        '429 after too many failures of the account or the address.',
      security: [],
      body: loginInput,
      response: session,
    },
    config: { capability: 'public' },
    handler: async ({ body, ips, ip }) =>
      openSession(context, await signIn(db, { ...body, address: clientNetwork({ ips, ip }) })),
  });

  app.post('/api/auth/signup', {
    schema: {
      operationId: 'signup',
      summary: 'Request membership; an administrator approves it',
      description:
        'The response and its time are the same for an address that already has an account: then nothing changes.',
      security: [],
      body: signupInput,
      response: responses({ 201: memberSchema }),
    },
    config: { capability: 'public' },
    handler: async ({ body, ips, ip }, reply) => {
      const row = await requestMembership(db, body, clientNetwork({ ips, ip }));
      return reply.code(201).send(toMember(row));
    },
  });

  app.post('/api/auth/accept-invite', {
    schema: {
      operationId: 'acceptInvite',
      summary: 'Become a member with an invite code, which works once',
      security: [],
      body: acceptInviteInput,
      response: session,
    },
    config: { capability: 'public' },
    handler: async ({ body }) => openSession(context, await joinByInvite(db, body)),
  });

  app.post('/api/auth/password', {
    schema: {
      operationId: 'changePassword',
      summary: 'Change your own password; all sessions end, and the response has a new one',
      body: passwordChange,
      response: session,
    },
    config: { capability: 'authenticated' },
    handler: async ({ body, credential }) => {
      if (credential.kind !== 'session') {
        throw new AppError(
          'forbidden',
          'A password can only be changed in a session of its member',
        );
      }
      const given = { current: body.current_password, next: body.new_password };
      return openSession(context, await replacePassword(db, credential.session, given));
    },
  });

  app.get('/api/auth/me', {
    schema: {
      operationId: 'getIdentity',
      summary: "Read the credential's actor and capabilities",
      response: responses({ 200: identitySchema }),
    },
    config: { capability: 'authenticated' },
    handler: async ({ actor, credential }): Promise<Identity> => {
      const account = actor.id === null ? undefined : await readAccount(db, actor.id);
      return toIdentity({ actor, credential }, account);
    },
  });
}

/** A session for an authenticated account. */
async function openSession({ tokens }: RouteContext, account: Account) {
  const { token, expiresAt } = await tokens.issue({
    memberId: account.id,
    epoch: account.session_epoch,
  });
  return { token, expires_at: expiresAt.toISOString(), member: toMember(account) };
}

const toIdentity = ({ actor, credential }: Caller, account: Account | undefined): Identity => ({
  id: actor.id,
  name: actor.name,
  email: account?.email ?? null,
  role: actor.role,
  workspace_id: actor.workspaceId,
  credential: credential.kind,
  capabilities: heldCapabilities(actor.role, actor.overrides),
});
