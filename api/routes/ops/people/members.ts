import { z } from 'zod';
import { emptyBody, offsetQuery } from '#shared/contract/common.ts';
import {
  inviteInput,
  memberDetailSchema,
  memberSchema,
  memberStatsSchema,
  permissionsChange,
  roleChange,
} from '#shared/contract/people/member.ts';
import { readMemberStats } from '#shared/db/people/member-stats.ts';
import { listMembers, readMember } from '#shared/db/people/members.ts';
import {
  approveMember,
  changeOverrides,
  changeRole,
  inviteMember,
  removeMember,
  renewInvite,
} from '#shared/db/people/membership.ts';
import type { InviteRules } from '#shared/db/people/invite-codes.ts';
import { inviteRules } from '#shared/operations/people/invitations.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const detail = responses(
  { 200: memberDetailSchema },
  'not_found',
  'too_large',
  'unsupported_media_type',
);

const gainText =
  'Requires everything that the member holds before and after. When the member gains something, an invitation gets a new ' +
  'code, and linked keys whose makers lack the gained permissions are revoked, unless `keep_keys` is true.';

const recordOf = (rules: InviteRules): EditedRecord => ({
  noun: 'member',
  schema: memberDetailSchema,
  read: (db, { actor, params }) => readMember(db, actor, idOf(params), rules),
});

export function memberRoutes(app: App, context: RouteContext): void {
  const { db } = context;
  const rules = inviteRules(context.config);
  const record = recordOf(rules);

  app.get('/api/members', {
    schema: {
      operationId: 'listMembers',
      summary: 'List members by when they joined',
      querystring: offsetQuery,
      response: responses({ 200: z.array(memberSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => listMembers(db, actor, query, rules.sealer),
  });

  app.post('/api/members/invite', {
    schema: {
      operationId: 'inviteMember',
      summary: 'Invite a member',
      description:
        'Anyone with the invite code becomes the member, once, until `invite_expires_at`. It is emailed where email ' +
        'delivery is configured, and shown in the listing until then. Nobody can invite to more than they hold. A ' +
        'pending sign-up in another workspace with the same address is dropped.',
      body: inviteInput,
      response: responses({ 201: memberSchema }, 'conflict'),
    },
    config: { capability: 'manage_members', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const member = await inviteMember(db, actor, body, rules);
      return reply.code(201).header('location', `/api/members/${member.id}`).send(member);
    },
  });

  app.get('/api/members/:id', {
    schema: {
      operationId: 'getMember',
      summary: 'Read a member and their permissions',
      params: idParams,
      response: responses({ 200: memberDetailSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) => readMember(db, actor, params.id, rules),
  });

  app.get('/api/members/:id/stats', {
    schema: {
      operationId: 'getMemberStats',
      summary: "Read a member's activity",
      description: 'The totals do not decrease when retention removes runs and audit entries.',
      params: idParams,
      response: responses({ 200: memberStatsSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params }) =>
      readMemberStats(db, { workspaceId, memberId: params.id }),
  });

  for (const [method, operationId] of [
    ['PATCH', 'changeRole'],
    ['PUT', 'setRole'],
  ] as const) {
    app.route({
      method,
      url: '/api/members/:id',
      schema: {
        operationId,
        summary: "Change a member's role, effective at once",
        description: gainText,
        params: idParams,
        body: roleChange,
        response: detail,
      },
      config: { capability: 'manage_members', record },
      handler: async ({ writes, actor, params, body }) =>
        changeRole(writes, actor, params.id, body, rules),
    });
  }

  for (const [method, operationId] of [
    ['PUT', 'setPermissions'],
    ['PATCH', 'changePermissions'],
  ] as const) {
    app.route({
      method,
      url: '/api/members/:id/permissions',
      schema: {
        operationId,
        summary: "Override capabilities of a member's role, effective at once",
        description: gainText,
        params: idParams,
        body: permissionsChange,
        response: detail,
      },
      config: { capability: 'manage_members', record },
      handler: async ({ writes, actor, params, body }) =>
        changeOverrides(writes, actor, params.id, body, rules),
    });
  }

  app.post('/api/members/:id/invite', {
    schema: {
      operationId: 'renewInvite',
      summary: 'Replace the invite code of an invited member',
      description:
        'The previous code is invalid at once. The new one is emailed where email delivery is configured. For an approved ' +
        'sign-up that has not chosen a password yet, it is only emailed.',
      params: idParams,
      body: emptyBody,
      response: detail,
    },
    config: { capability: 'manage_members' },
    handler: async ({ actor, params }) => renewInvite(db, actor, params.id, rules),
  });

  app.post('/api/members/:id/approve', {
    schema: {
      operationId: 'approveMember',
      summary: 'Approve a member who has signed up',
      description:
        'The email address is not verified yet. Where email delivery is configured, the password of the ' +
        'sign-up is dropped and a code is sent to the address, to choose a password with `accept-invite`. Otherwise ' +
        'the password of the sign-up is valid: only approve people whom you expect.',
      params: idParams,
      body: emptyBody,
      response: detail,
    },
    config: { capability: 'manage_members' },
    handler: async ({ actor, params }) => approveMember(db, actor, params.id, rules),
  });

  app.delete('/api/members/:id', {
    schema: {
      operationId: 'removeMember',
      summary: 'Remove a member; their sessions end and their keys are revoked',
      description: 'Also withdraws an invitation, and rejects a sign-up.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_members', record },
    handler: async ({ writes, actor, params }, reply) => {
      await removeMember(writes, actor, params.id);
      return reply.code(204).send();
    },
  });
}
