import { z } from 'zod';
import { emptyBody, offsetQuery } from '../../../shared/contract/common.ts';
import {
  inviteInput,
  memberDetailSchema,
  memberSchema,
  memberStatsSchema,
  permissionsChange,
  roleChange,
} from '../../../shared/contract/member.ts';
import { readMemberStats } from '../../../shared/db/member-stats.ts';
import { listMembers, readMember } from '../../../shared/db/members.ts';
import {
  approveMember,
  changeOverrides,
  changeRole,
  inviteMember,
  removeMember,
} from '../../../shared/db/membership.ts';
import { answers, nothing } from '../../answers.ts';
import type { App, RouteContext } from '../../deps.ts';

const tags = ['Members'];
const memberParams = z.strictObject({ id: z.string().min(1) });
const detail = answers(
  { 200: memberDetailSchema },
  'not_found',
  'too_large',
  'unsupported_media_type',
);

export function memberRoutes(app: App, { db, config }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/members',
    schema: {
      tags,
      operationId: 'listMembers',
      summary: 'List members by when they joined',
      querystring: offsetQuery,
      response: answers({ 200: z.array(memberSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => listMembers(db, actor, query),
  });

  app.route({
    method: 'POST',
    url: '/api/members/invite',
    schema: {
      tags,
      operationId: 'inviteMember',
      summary: 'Invite a member',
      description:
        'Whoever has the invite code becomes the member, once. It is mailed where e-mail delivery is configured, ' +
        'and shown in the listing until then. Nobody can invite to more than they hold.',
      body: inviteInput,
      response: answers({ 201: memberSchema }, 'conflict', 'too_large', 'unsupported_media_type'),
    },
    config: { capability: 'manage_members' },
    handler: async ({ actor, body }, reply) => {
      const mail = config.email.apiKey !== undefined;
      const member = await inviteMember(db, actor, body, { mail });
      return reply.code(201).header('location', `/api/members/${member.id}`).send(member);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/members/:id',
    schema: {
      tags,
      operationId: 'getMember',
      summary: 'Read a member and what they may do',
      params: memberParams,
      response: answers({ 200: memberDetailSchema }, 'not_found'),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params }) => readMember(db, actor, params.id),
  });

  app.route({
    method: 'GET',
    url: '/api/members/:id/stats',
    schema: {
      tags,
      operationId: 'getMemberStats',
      summary: 'Tell what a member has done',
      description: 'The totals do not fall when runs and audit entries are removed by retention.',
      params: memberParams,
      response: answers({ 200: memberStatsSchema }, 'not_found'),
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
        tags,
        operationId,
        summary: "Change a member's role, effective at once",
        params: memberParams,
        body: roleChange,
        response: detail,
      },
      config: { capability: 'manage_members' },
      handler: async ({ actor, params, body }) => changeRole(db, actor, params.id, body.role),
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
        tags,
        operationId,
        summary: "Override capabilities of a member's role, effective at once",
        params: memberParams,
        body: permissionsChange,
        response: detail,
      },
      config: { capability: 'manage_members' },
      handler: async ({ actor, params, body }) =>
        changeOverrides(db, actor, params.id, body.overrides),
    });
  }

  app.route({
    method: 'POST',
    url: '/api/members/:id/approve',
    schema: {
      tags,
      operationId: 'approveMember',
      summary: 'Let in a member who has signed up',
      params: memberParams,
      body: emptyBody,
      response: detail,
    },
    config: { capability: 'manage_members' },
    handler: async ({ actor, params }) => approveMember(db, actor, params.id),
  });

  app.route({
    method: 'DELETE',
    url: '/api/members/:id',
    schema: {
      tags,
      operationId: 'removeMember',
      summary: 'Remove a member; their sessions end and their keys are revoked',
      description: 'Also withdraws an invitation, and refuses a sign-up.',
      params: memberParams,
      response: answers({ 204: nothing }, 'not_found'),
    },
    config: { capability: 'manage_members' },
    handler: async ({ actor, params }, reply) => {
      await removeMember(db, actor, params.id);
      return reply.code(204).send();
    },
  });
}
