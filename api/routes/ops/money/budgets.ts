import { z } from 'zod';
import {
  budgetHistorySchema,
  budgetInput,
  budgetSchema,
  budgetStatusSchema,
  budgetUpdate,
} from '#shared/contract/money/budget.ts';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  createBudget,
  deleteBudget,
  listBudgets,
  readBudget,
  updateBudget,
} from '#shared/db/money/budgets.ts';
import { readBudgetHistory } from '#shared/db/money/budget-history.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'budget',
  schema: budgetSchema,
  read: (db, { actor, params }) =>
    readBudget(db, { workspaceId: actor.workspaceId, budgetId: idOf(params) }),
};

export function budgetRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/budgets', {
    schema: {
      operationId: 'listBudgets',
      summary: 'List budgets with their status, oldest first',
      querystring: offsetQuery,
      response: responses({ 200: z.array(budgetSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => listBudgets(db, actor.workspaceId, query),
  });

  app.post('/api/budgets', {
    schema: {
      operationId: 'createBudget',
      summary: 'Cap what runs may cost in a window',
      description:
        'A trigger that does not fit is refused with 402. With `reservation_estimate_usd` each trigger reserves that ' +
        'much until its run ends; without it only settled spend counts. Past spend of the current window counts too.',
      body: budgetInput,
      response: responses({ 201: budgetSchema }, 'not_found', 'conflict'),
    },
    config: { capability: 'manage_workspace', headers: ['Location'] },
    handler: async (request, reply) => {
      const { workspaceId } = request.actor;
      const budgetId = await createBudget(db, request.actor, request.body);
      reply.code(201).header('location', `/api/budgets/${budgetId}`);
      return readBudget(db, { workspaceId, budgetId });
    },
  });

  app.get('/api/budgets/:id', {
    schema: {
      operationId: 'getBudget',
      summary: 'Read a budget',
      params: idParams,
      response: responses({ 200: budgetSchema }),
    },
    config: { capability: 'view', record },
    handler: async (request) =>
      readBudget(db, { workspaceId: request.actor.workspaceId, budgetId: request.params.id }),
  });

  app.get('/api/budgets/:id/status', {
    schema: {
      operationId: 'getBudgetStatus',
      summary: "Read a budget's ledger for the current window",
      params: idParams,
      response: responses({ 200: budgetStatusSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => {
      const { workspaceId } = request.actor;
      const budget = await readBudget(db, { workspaceId, budgetId: request.params.id });
      return budget.status;
    },
  });

  app.get('/api/budgets/:id/history', {
    schema: {
      operationId: 'getBudgetHistory',
      summary: "Read the spend of a budget's current window, by day",
      params: idParams,
      response: responses({ 200: budgetHistorySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params }) =>
      readBudgetHistory(db, { workspaceId, budgetId: params.id }),
  });

  app.put('/api/budgets/:id', {
    schema: {
      operationId: 'updateBudget',
      summary: 'Change the name, limit or estimate of a budget',
      description:
        'Effective for the next trigger and the next step. Existing holds do not change.',
      params: idParams,
      body: budgetUpdate,
      response: responses({ 200: budgetSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async (request) => {
      const { workspaceId } = request.actor;
      const budgetId = request.params.id;
      await updateBudget(request.writes, request.actor, budgetId, request.body);
      return readBudget(db, { workspaceId, budgetId });
    },
  });

  app.delete('/api/budgets/:id', {
    schema: {
      operationId: 'deleteBudget',
      summary: 'Delete a budget; runs that hold it continue without',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async (request, reply) => {
      await deleteBudget(request.writes, request.actor, request.params.id);
      return reply.code(204).send();
    },
  });
}
