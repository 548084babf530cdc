import type { Actor } from '#shared/people/actor.ts';
import { pageQuery } from '#shared/contract/common.ts';
import { decidedGateListSchema, gateSchema, gateStepKey } from '#shared/contract/gates/gate.ts';
import { approvalListQuery, approvalListSchema } from '#shared/contract/runs/run.ts';
import { listDecided } from '#shared/db/gates/decided.ts';
import { listApprovals } from '#shared/db/runs/runs.ts';
import { AppError } from '#shared/errors.ts';
import { readGate } from '#shared/operations/gates/read-gate.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { shownOpenings, shownGate } from '#api/identity/shown-gates.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** Throws AppError `invalid`. */
function memberOf({ id }: Actor): string {
  if (id !== null) return id;
  throw new AppError(
    'invalid',
    "Invalid query: assigned_to: this key is not linked to a member, so no gate is assigned to 'me'",
  );
}

const gateParams = idParams.extend({ step_key: gateStepKey });

export function approvalRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/approvals', {
    schema: {
      operationId: 'listApprovals',
      summary: 'List open gates, oldest first',
      querystring: approvalListQuery,
      response: responses({ 200: approvalListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query: { assigned_to, ...query } }) => {
      const { workspaceId } = actor;
      const assigneeId = assigned_to === 'me' ? memberOf(actor) : assigned_to;
      const page = await listApprovals(db, { workspaceId, assigneeId, ...query });
      return { ...page, approvals: page.approvals.map((gate) => shownGate(actor, gate)) };
    },
  });

  app.get('/api/approvals/decided', {
    schema: {
      operationId: 'listDecidedGates',
      summary: 'List decisions at gates of the last 30 days, newest first',
      querystring: pageQuery,
      response: responses({ 200: decidedGateListSchema }),
    },
    config: { capability: 'view' },
    handler: ({ actor: { workspaceId }, query }) => listDecided(db, { workspaceId, ...query }),
  });

  app.get('/api/runs/:id/gates/:step_key', {
    schema: {
      operationId: 'getGate',
      summary: 'Read a gate, open or decided, with what it asked before',
      description:
        'What an approver needs to know: whether the caller can decide it, the schema of the arguments of a tool call, and' +
        ' the earlier decisions of the same node in this run.',
      params: gateParams,
      response: responses({ 200: gateSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params }) => {
      const gate = await readGate(db, { actor, runId: params.id, stepKey: params.step_key });
      return shownOpenings(actor, gate);
    },
  });
}
