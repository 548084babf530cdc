import { z } from 'zod';
import { emptyBody } from '#shared/contract/common.ts';
import { overrideBody } from '#shared/contract/money/budget.ts';
import { gateChangedSchema } from '#shared/contract/gates/consequences.ts';
import {
  assignmentBody,
  checkedRunSchema,
  decisionBody,
  type Run,
  runInputBody,
  runListQuery,
  runListSchema,
  runSchema,
  runStartQuery,
  startedRunSchema,
} from '#shared/contract/runs/run.ts';
import { stepListQuery, stepListSchema } from '#shared/contract/steps/step.ts';
import { runEventListSchema, runEventQuery } from '#shared/contract/runs/stream.ts';
import { messageListSchema } from '#shared/contract/agents/message.ts';
import { readMessages as readMessagesOf } from '#shared/db/agents/messages.ts';
import { listRunEvents } from '#shared/db/runs/frames.ts';
import { listRuns } from '#shared/db/runs/run-list.ts';
import { listSteps } from '#shared/db/steps/step-pages.ts';
import { RunSkipped } from '#shared/db/runs/admission.ts';
import { notFound } from '#shared/errors.ts';
import { MAX_STEPS_IN_RUN } from '#shared/limits.ts';
import { toMicros } from '#shared/money/money.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { skippedRun, startConfig, startedRun, startHeaders } from '#api/http/started-run.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { seesArguments, shownSteps } from '#api/identity/shown-gates.ts';
import { createRunActions, type RunActions } from '#api/run-actions.ts';
import { createCoalescedReads } from '#api/load/coalesced-reads.ts';

const stepParams = idParams.extend({ step_key: z.string().min(1).max(1_000) });

export function runRoutes(app: App, context: RouteContext): void {
  const actions = createRunActions(context);
  startRuns(app, actions);
  readRuns(app, context, actions);
  readParts(app, context);
  continueRuns(app, actions);
}

function startRuns(app: App, actions: RunActions): void {
  app.post('/api/workflows/:id/runs', {
    schema: {
      operationId: 'triggerRun',
      summary: 'Start a run of the current version, or of the draft',
      description:
        'Returns 201 with the new run, or 200 with the earlier one and `Idempotent-Replayed: true` when the ' +
        '`Idempotency-Key` has started it before. An input that does not fit the `input_schema` of the version is ' +
        '400, with the path of each problem. With `draft=true` it runs the draft with the schema of its input: an ' +
        'ordinary run with all its costs and effects, which has `of_draft` and its `graph`. While the limit of ' +
        'the workflow is reached, the run is `queued`, or it is 409, or 200 with `skipped` and without a run. Under a ' +
        '`debounce`, 201 also answers with the run that waits for further requests, which gets this input: ' +
        '`Debounce-Joined: true`.',
      params: idParams,
      querystring: runStartQuery,
      headers: startHeaders,
      body: runInputBody,
      response: responses(
        { 200: startedRunSchema, 201: runSchema },
        'quota_exceeded',
        'budget_exceeded',
        'idempotency_mismatch',
        'conflict',
      ),
    },
    config: { ...startConfig, headers: [...startConfig.headers, 'Debounce-Joined'] },
    handler: async (request, reply) => {
      const start = {
        actor: request.actor,
        workflowId: request.params.id,
        input: request.body ?? {},
        trigger: 'manual' as const,
        draft: request.query.draft === 'true',
        idempotencyKey: request.headers['idempotency-key'],
      };
      try {
        const { run, replayed, joined } = await actions.start(start);
        if (joined === true) reply.header('debounce-joined', 'true');
        return startedRun(reply, run, replayed);
      } catch (error) {
        if (!(error instanceof RunSkipped)) throw error;
        reply.code(200);
        return skippedRun(error.message);
      }
    },
  });
}

function readRuns(app: App, { db }: RouteContext, actions: RunActions): void {
  // All clients that watch a run read it again after each frame, at the same moment.
  const watched = createCoalescedReads<Run>();

  app.get('/api/runs', {
    schema: {
      operationId: 'listRuns',
      summary: 'List runs, newest first',
      querystring: runListQuery,
      response: responses({ 200: runListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) =>
      listRuns(db, { workspaceId: request.actor.workspaceId, ...request.query }),
  });

  app.get('/api/runs/:id', {
    schema: {
      operationId: 'getRun',
      summary: 'Read a run with its steps, cost, output and open gates',
      params: idParams,
      response: responses({ 200: runSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params: { id } }) =>
      watched.get(`${actor.workspaceId}/${id}/${seesArguments(actor)}`, () =>
        actions.read(actor, id),
      ),
  });
}

function readParts(app: App, { db }: RouteContext): void {
  app.get('/api/runs/:id/steps', {
    schema: {
      operationId: 'listRunSteps',
      summary: 'List the steps of a run',
      description:
        'First those outside of loops and maps, then those in them, each in the order of their starts. `GET /api/runs/{id}` ' +
        `has the first ${MAX_STEPS_IN_RUN}, and the cursor of the others.`,
      params: idParams,
      querystring: stepListQuery,
      response: responses({ 200: stepListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params, query }) => {
      const { steps, next_cursor } = await listSteps(db, {
        workspaceId: actor.workspaceId,
        runId: params.id,
        nodeId: query.node_id,
        stepKey: query.step_key,
        status: query.status,
        limit: query.limit,
        cursor: query.cursor,
      });
      return { steps: shownSteps(actor, steps), next_cursor };
    },
  });

  app.get('/api/runs/:id/events', {
    schema: {
      operationId: 'listRunEvents',
      summary: "List the frames of a run's stream, oldest first",
      description:
        'The frames as they were emitted, each with its number and time. To follow a run without a stream, poll ' +
        'with the highest `seq` seen as `after`.',
      params: idParams,
      querystring: runEventQuery,
      response: responses({ 200: runEventListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) =>
      listRunEvents(db, {
        workspaceId: request.actor.workspaceId,
        runId: request.params.id,
        ...request.query,
      }),
  });

  app.get('/api/runs/:id/steps/:step_key/messages', {
    schema: {
      operationId: 'listStepMessages',
      summary: 'Read the conversation of an agent with tools',
      description:
        'Everything the model received and said so far, in order. Results are as the model received them: redacted, and ' +
        'cut after 100,000 characters. The arguments of calls that need approval are null for a caller without the ' +
        'capability approve_gates.',
      params: stepParams,
      response: responses({ 200: messageListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params }) => {
      const scope = { workspaceId: actor.workspaceId, runId: params.id, agentKey: params.step_key };
      const messages = await readMessagesOf(db, { ...scope, hides: !seesArguments(actor) });
      if (messages === undefined) throw notFound('Step');
      return { messages };
    },
  });
}

function continueRuns(app: App, actions: RunActions): void {
  app.post('/api/runs/:id/approve', {
    schema: {
      operationId: 'decideGate',
      summary: 'Approve or reject an open gate',
      description:
        'A gate can be decided whenever it is open, also while other branches of its run are in progress. Without a body the ' +
        'oldest open gate is approved: name the gate where a run may have several. A tool call needs its `digest`. A gate with rules can refuse' +
        ' the caller with 403, and counts the approvals that it requires: then it stays open until the last one. 409' +
        ' says what was decided before, or that the tool has changed; for an older `digest` of a gate, `current` is what the ' +
        'gate shows now. No one can approve a step that waits for a sign-in, but a rejection that names it fails the step. With `only_check` nothing is decided: the response is' +
        ' the run as it is, with what the decision would set in motion, or the refusal that it would get.' +
        ' An approval of a gate with `recheck` first repeats its reads, which can take 20 seconds; if they differ, 409 has the code `changed`.',
      params: idParams,
      body: decisionBody,
      response: responses({ 200: checkedRunSchema, 409: gateChangedSchema }),
    },
    config: { capability: 'approve_gates' },
    handler: async (request) => {
      const { node_id, step_key, only_check, ...answer } = request.body ?? { approved: true };
      const decision = { ...answer, nodeId: node_id, stepKey: step_key };
      return only_check === true
        ? actions.check(request.actor, request.params.id, decision)
        : actions.decide(request.actor, request.params.id, decision);
    },
  });

  app.post('/api/runs/:id/assign', {
    schema: {
      operationId: 'assignGate',
      summary: 'Assign an open gate to a member, or pass it on',
      description:
        'Says who is expected to decide. Others who can decide the gate still can. Without `node_id` and `step_key` the ' +
        'oldest open gate is assigned. 409: the gate is not open, or the member cannot decide it.',
      params: idParams,
      body: assignmentBody,
      response: responses({ 200: runSchema }, 'conflict'),
    },
    config: { capability: 'approve_gates' },
    handler: async ({ actor, params, body }) =>
      actions.assign(actor, params.id, {
        memberId: body.member_id,
        nodeId: body.node_id,
        stepKey: body.step_key,
      }),
  });

  app.post('/api/runs/:id/resume', {
    schema: {
      operationId: 'resumeRun',
      summary: 'Resume a failed run from its last checkpoint',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: runSchema }, 'budget_exceeded', 'conflict'),
    },
    config: { capability: 'cancel_resume' },
    handler: async (request) => actions.resume(request.actor, request.params.id),
  });

  app.post('/api/runs/:id/budget-override', {
    schema: {
      operationId: 'overrideBudget',
      summary: 'Resume a run that a budget stopped, with its own optional cap',
      description:
        'The run is then exempt from block budgets; its cost still counts in them. `cap_usd` becomes its ' +
        'cap, without one it has none.',
      params: idParams,
      body: overrideBody,
      response: responses({ 200: runSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace' },
    handler: async (request) => {
      const { cap_usd: cap, reason } = request.body;
      return actions.resume(request.actor, request.params.id, {
        capMicros: cap === undefined ? null : toMicros(cap),
        reason,
      });
    },
  });

  app.post('/api/runs/:id/cancel', {
    schema: {
      operationId: 'cancelRun',
      summary: 'End a pending, running or paused run',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: runSchema }, 'conflict'),
    },
    config: { capability: 'cancel_resume' },
    handler: async (request) => actions.cancel(request.actor, request.params.id),
  });
}
