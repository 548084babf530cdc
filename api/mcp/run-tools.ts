import type { InputRequiredResult } from '@modelcontextprotocol/server';
import { acceptChangesField } from '#shared/contract/gates/recheck.ts';
import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { jsonObject } from '#shared/contract/common.ts';
import { gateSchema, gateStepKey } from '#shared/contract/gates/gate.ts';
import {
  assignmentFields,
  gateAnswerFields,
  gateChoiceFields,
  MAX_DURATION_MS,
  refuseEmptyRanges,
  runStatusSchema,
  boundDecisionFields,
  checkedRunSchema,
  onlyCheckField,
  idempotencyKeySchema,
  type Run,
  runListSchema,
  runListShape,
  runSchema,
} from '#shared/contract/runs/run.ts';
import { readGate } from '#shared/operations/gates/read-gate.ts';
import type { StartRequest } from '#shared/operations/runs/runs.ts';
import { listRuns } from '#shared/db/runs/run-list.ts';
import type { RunActions } from '#api/run-actions.ts';
import { waitUntilIdle } from '#api/http/run-watch.ts';
import { shownOpenings } from '#api/identity/shown-gates.ts';
import { pageOf, questionAbout, type Started, takeAnswer } from './elicitation.ts';
import { gateText } from './gate-text.ts';
import { changes, defineTool, looksOnly, type McpTool, type ToolCall } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

/** Below the request timeout, so that the response can still be sent. */
const MAX_WAIT_SECONDS = 25;
/** How many gates a result names with the address of their page. */
const MAX_PLACES = 5;

export const runId = z.string().min(1).max(100).meta({ description: 'Id of the run (run_...)' });

/** A run after an action, without its payloads and steps, which would fill a model's context; get_run returns them. */
const runAfter = runSchema.omit({
  workspace_id: true,
  input: true,
  state: true,
  graph: true,
  steps: true,
  checkpoints: true,
  pending_gate: true,
});

/** The run that a call started. */
export const runStarted = runAfter.extend({
  replayed: z
    .boolean()
    .meta({ description: 'An earlier call with this idempotency_key started it' }),
  joined: z
    .boolean()
    .optional()
    .meta({ description: 'It had waited for further calls, and got the input of this one' }),
});

/** Annotations of calls that start or continue a run. */
export const executesGraph = {
  readOnlyHint: false,
  // The effects depend on the graph, which may write to external systems.
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const next =
  'The status is pending, running, paused (waits for a person: see pending_gates), success or failed (see error).';

/**
 * Starts a run, and waits until it ends or pauses. If it pauses at a gate that the member can decide, and the client can
 * ask its person, returns that question. The same call with the answer starts nothing: it decides, and waits again.
 */
export async function startedRun(
  call: ToolCall,
  wanted: Pick<StartRequest, 'workflowId' | 'input' | 'idempotencyKey' | 'draft'> & {
    waitMs: number;
  },
): Promise<(Run & Started) | InputRequiredResult> {
  const { actor, actions, context, signal } = call;
  const { waitMs, ...request } = wanted;
  const end = performance.now() + waitMs;
  const asked = await takeAnswer(call);
  if (asked !== undefined && 'result' in asked) return asked.result;
  const { run, how } = asked ?? (await start(actions, { actor, trigger: 'mcp', ...request }));
  if (waitMs === 0) return { ...run, ...how };
  const watched = { workspaceId: actor.workspaceId, runId: run.id };
  const leftMs = Math.max(0, end - performance.now());
  await waitUntilIdle(context.db, watched, { waitMs: leftMs, signal });
  const now = { ...(await actions.read(actor, run.id)), ...how };
  return (await questionAbout(call, now, asked?.past)) ?? now;
}

async function start(
  actions: RunActions,
  request: StartRequest & { actor: Actor },
): Promise<{ run: Run; how: Started }> {
  const { run, replayed, joined } = await actions.start(request);
  return { run, how: { replayed, ...(joined === true ? { joined } : {}) } };
}

/** Where a person decides whom the credential does not let decide. */
function placesToDecide(
  { id, status, pending_gates: gates }: Pick<Run, 'id' | 'status' | 'pending_gates'>,
  { actor, context }: ToolCall,
): string | undefined {
  if (status !== 'paused') return undefined;
  const mayDecide = holds(actor.role, actor.overrides, 'approve_gates');
  const others = gates.filter((gate) => !mayDecide || gate.signed_in === true);
  if (others.length === 0) return undefined;
  const places = others
    .slice(0, MAX_PLACES)
    .map((gate) => `${gate.title}: ${pageOf(context, id, gate)}`);
  return ['A person decides here, not this credential:', ...places].join('\n');
}

const { q, failure_kind, trigger, parent_run_id, forked_from, mode, since, until } = runListShape;
const cost = z.number().min(0).max(1_000_000_000);
const duration = z.int().min(0).max(MAX_DURATION_MS);

/** The filters of `GET /api/runs`, with JSON numbers and lists. */
const listFilters = {
  q,
  failure_kind,
  trigger,
  parent_run_id,
  forked_from,
  mode,
  since,
  until,
  version: z.int().min(1).max(2_147_483_647).optional().meta(metaOf('version')),
  status: z
    .union([runStatusSchema, z.array(runStatusSchema).min(1).max(5)])
    .optional()
    .meta({
      description: 'One status, or several',
    }),
  min_cost_usd: cost.optional().meta(metaOf('min_cost_usd')),
  max_cost_usd: cost.optional().meta(metaOf('max_cost_usd')),
  min_duration_ms: duration.optional().meta(metaOf('min_duration_ms')),
  max_duration_ms: duration.optional().meta(metaOf('max_duration_ms')),
};

function metaOf(name: keyof typeof runListShape): { description?: string | undefined } {
  return { description: runListShape[name].meta()?.description };
}

/** The first tool is `run_workflow`. */
export const runTools: readonly [McpTool, ...McpTool[]] = [
  defineTool({
    name: 'run_workflow',
    title: 'Run a workflow',
    description:
      'Starts a run of the current version of a workflow, or of its draft. It continues by itself, whether or not anyone waits. Pass ' +
      `wait_seconds to get short runs with their output, else call get_run later. ${next} Clients that can ask their person ` +
      'about a gate do so within this call, which then continues. Pass the same ' +
      'idempotency_key when you repeat a call, so that it starts one run only.',
    capability: 'run_workflows',
    annotations: executesGraph,
    input: z.strictObject({
      workflow: workflowArgument,
      input: jsonObject.optional().meta({
        description:
          "Input of the run; it must fit the workflow's input_schema, or its description says what it needs",
      }),
      draft: z.boolean().optional().meta({
        description: 'Runs the draft, and not the current version; its effects are as real',
      }),
      idempotency_key: idempotencyKeySchema.optional(),
      wait_seconds: z
        .number()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(0)
        .meta({ description: 'How long to wait for the run to end or to pause' }),
    }),
    output: runStarted,
    handle: async (call, args) => {
      const { workflowId } = await scopeOf(call, args.workflow);
      return startedRun(call, {
        workflowId,
        input: args.input ?? {},
        draft: args.draft,
        idempotencyKey: args.idempotency_key,
        waitMs: args.wait_seconds * 1_000,
      });
    },
    explain: placesToDecide,
  }),
  defineTool({
    name: 'get_run',
    title: 'Read a run',
    description: `Reads one run with its steps, output, cost and open gates. ${next}`,
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ run_id: runId }),
    output: runSchema,
    handle: async ({ actions, actor }, args) => actions.read(actor, args.run_id),
  }),
  defineTool({
    name: 'list_runs',
    title: 'List runs',
    description:
      'Lists runs, newest first, without their payloads; get_run reads one in full. Filter by words in their input, ' +
      'output or error (q), workflow and version, status, kind of failure, trigger, time of creation, cost, duration, ' +
      'or the run that started them.',
    capability: 'view',
    annotations: looksOnly,
    input: z
      .strictObject({
        workflow: workflowArgument.optional(),
        ...listFilters,
        limit: z.int().min(1).max(50).default(20),
        cursor: runListShape.cursor.meta({ description: '`next_cursor` of the previous call' }),
      })
      .check(refuseEmptyRanges),
    output: runListSchema,
    handle: async (call, { workflow, status, ...filter }) =>
      listRuns(call.context.db, {
        workspaceId: call.actor.workspaceId,
        workflow_id:
          workflow === undefined ? undefined : (await scopeOf(call, workflow)).workflowId,
        status: status === undefined ? undefined : [status].flat(),
        ...filter,
      }),
  }),
  defineTool({
    name: 'get_gate',
    title: 'Read a gate',
    description:
      'Reads one gate of a run, open or decided: whether the caller can decide it and who else can, what each answer ' +
      'sets in motion with its exact arguments (consequences), the schema of the arguments of a tool call, and the earlier ' +
      'decisions of the same node. Read it before you ask a person to decide, and pass its digest to approve_run.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      run_id: runId,
      step_key: gateStepKey.meta({ description: '`step_key` of an entry of pending_gates' }),
    }),
    output: gateSchema,
    handle: async ({ context, actor }, args) =>
      shownOpenings(
        actor,
        await readGate(context.db, { actor, runId: args.run_id, stepKey: args.step_key }),
      ),
    explain: gateText,
  }),
  defineTool({
    name: 'approve_run',
    title: 'Approve or reject a gate',
    description:
      'Decides an open gate of a run on behalf of a person. Only call it when a person has decided: ask them ' +
      'first with what get_gate shows, and send the digest that it returns. With approved false the gate is rejected. A gate with ' +
      'an input_schema needs an input that fits. Input can change what an approval sets in motion: with only_check, nothing is ' +
      'decided, and shown has the consequences with this input and the digest to send with it. If they have changed, the call is ' +
      'refused with the present ones: show them to the person and ask again. If the gate has recheck and ' +
      'a value has changed, show the person the differences of `stale` before you send accept_changes.',
    capability: 'approve_gates',
    annotations: executesGraph,
    input: z.strictObject({
      run_id: runId,
      ...gateChoiceFields,
      ...gateAnswerFields,
      ...boundDecisionFields,
      only_check: onlyCheckField,
      ...acceptChangesField,
    }),
    output: runAfter.extend({ shown: checkedRunSchema.shape.shown }),
    handle: async ({ actions, actor }, { run_id, node_id, step_key, only_check, ...answer }) => {
      const decision = { ...answer, nodeId: node_id, stepKey: step_key };
      return only_check
        ? actions.check(actor, run_id, decision)
        : actions.decide(actor, run_id, { ...decision, needsDigest: true });
    },
  }),
  defineTool({
    name: 'assign_gate',
    title: 'Assign a gate to a member',
    description:
      'Says which member is expected to decide an open gate of a run, or with null that no member is. Others who can decide it still can. ' +
      'It decides nothing.',
    capability: 'approve_gates',
    annotations: { ...changes, idempotentHint: true },
    input: z.strictObject({ run_id: runId, ...assignmentFields }),
    output: runAfter,
    handle: async ({ actions, actor }, { run_id, member_id: memberId, node_id, step_key }) =>
      actions.assign(actor, run_id, { memberId, nodeId: node_id, stepKey: step_key }),
  }),
  defineTool({
    name: 'resume_run',
    title: 'Resume a failed run',
    description:
      'Continues a failed run from its last checkpoint: only steps that had not completed run again.',
    capability: 'cancel_resume',
    annotations: executesGraph,
    input: z.strictObject({ run_id: runId }),
    output: runAfter,
    handle: async ({ actions, actor }, args) => actions.resume(actor, args.run_id),
  }),
  defineTool({
    name: 'cancel_run',
    title: 'Cancel a run',
    description: 'Ends a pending, running or paused run. Its status is failed afterward.',
    capability: 'cancel_resume',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      // A second call is refused and changes nothing.
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({ run_id: runId }),
    output: runAfter,
    handle: async ({ actions, actor }, args) => actions.cancel(actor, args.run_id),
  }),
];
