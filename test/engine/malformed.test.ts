import { describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { SIGNAL_DECISION, SIGNAL_RESUMED } from '#shared/execution.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { chain, echo, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const malformed: [string, unknown[]][] = [
  [SIGNAL_DECISION, []],
  [SIGNAL_DECISION, [null]],
  [SIGNAL_DECISION, ['gate']],
  [SIGNAL_DECISION, [[]]],
  [SIGNAL_DECISION, [{}]],
  [SIGNAL_DECISION, [{ step_key: 7, round: 1, approved: true }]],
  [SIGNAL_DECISION, [{ step_key: 'gate', round: 0, approved: true }]],
  [SIGNAL_DECISION, [{ step_key: 'gate', round: '1', approved: true }]],
  [SIGNAL_DECISION, [{ step_key: 'gate', round: 1, approved: 'yes' }]],
  [SIGNAL_DECISION, [{ step_key: 'gate', round: 1, approved: true, input: [] }]],
  [SIGNAL_DECISION, [{ step_key: 'gate', round: 1, approved: true, reason: {} }]],
  [SIGNAL_RESUMED, []],
  [SIGNAL_RESUMED, [null]],
  [SIGNAL_RESUMED, [{}]],
  [SIGNAL_RESUMED, [{ decisions: null }]],
  [SIGNAL_RESUMED, [{ decisions: {} }]],
  [SIGNAL_RESUMED, [{ decisions: [null, 'gate', { step_key: 'gate', round: 1 }] }]],
  ['unknown', [null]],
];

const payloadOf = (encoding: string | undefined, data: string | Buffer): Payload => ({
  metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});
/** Payloads of a client with another codec, or none. */
const undecodable = [
  payloadOf('binary/encrypted', Buffer.from([0xff, 0x00, 0xfe])),
  payloadOf('json/plain', 'no JSON'),
  payloadOf('json/plain', Buffer.from([0xff, 0xfe, 0x80])),
  payloadOf('json/protobuf', '{}'),
  payloadOf('binary/stored', 'no reference'),
  payloadOf(undefined, '{}'),
  payloadOf('', ''),
];

describe('a malformed signal', () => {
  test('changes nothing, and the run continues', async () => {
    const runId = await engine.start(
      chain({ id: 'gate', kind: 'human_gate' }, echo('after', 'note')),
    );
    await engine.until(runId, ['paused']);
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    for (const [name, payloads] of malformed) await handle.signal(name, ...payloads);
    const sent = async () =>
      (await handle.fetchHistory()).events?.filter(
        ({ workflowExecutionSignaledEventAttributes: signal }) => signal != null,
      ).length;
    // Signals that arrive during a workflow task come after it in the history.
    await eventually(async () => (await sent()) === malformed.length);
    // All are processed when no workflow task is pending and none has failed.
    await eventually(async () => (await handle.describe()).raw.pendingWorkflowTask == null);
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes != null)).toEqual([]);
    expect((await engine.run(runId)).status).toBe('paused');
    const answer = { actor: engine.actor, runId, approved: true, input: { note: 'fine' } };
    await decideGate(engine.deps, answer);
    expect((await engine.until(runId, ['success'])).output).toEqual({ after: 'fine' });
  });

  test('with undecodable payloads changes nothing, and the gate can be approved', async () => {
    const workflowId = await engine.define(
      chain({ id: 'gate', kind: 'human_gate' }, echo('after', 'note')),
    );
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['paused']);
    const { client, namespace } = engine.deps.temporal;
    for (const signalName of [SIGNAL_DECISION, SIGNAL_RESUMED, 'unknown']) {
      for (const payload of undecodable) {
        await client.workflowService.signalWorkflowExecution({
          namespace,
          workflowExecution: { workflowId: runId },
          signalName,
          input: { payloads: [payload] },
        });
      }
    }
    const handle = client.workflow.getHandle(runId);
    const sent = async () =>
      (await handle.fetchHistory()).events?.filter(
        ({ workflowExecutionSignaledEventAttributes: signal }) => signal != null,
      ).length;
    await eventually(async () => (await sent()) === 3 * undecodable.length);
    await engine.approve(runId, { input: { note: 'fine' } });
    expect((await engine.until(runId, ['success'])).output).toEqual({ after: 'fine' });
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes != null)).toEqual([]);
  });

  test('does not block a valid decision in the same signal', async () => {
    const runId = await engine.start(chain({ id: 'gate', kind: 'human_gate' }));
    await engine.until(runId, ['paused']);
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    const decision = { step_key: 'gate', round: 1, approved: true, input: null, more: 1 };
    await handle.signal(SIGNAL_RESUMED, { decisions: [null, decision] });
    await engine.until(runId, ['success']);
  });
});

describe('an execution with a malformed input', () => {
  const run = {
    run_id: 'run_1',
    workspace_id: 'ws_1',
    workflow_id: 'wf_1',
    steps_task_queue: 'q',
    overflow_task_queue: 'o',
    limits: { steps_in_flight: 1, heartbeat_timeout_ms: 1 },
    graph: { nodes: [], edges: [] },
    input: {},
  };
  test.each<[string, unknown[], string]>([
    ['runGraph', [], 'The input of runGraph must be an object'],
    ['runGraph', [null], 'The input of runGraph must be an object'],
    ['runGraph', [{ ...run, run_id: 7 }], 'The input of runGraph has no valid run_id'],
    ['runGraph', [{ ...run, graph: { nodes: null } }], 'The input of runGraph has no valid graph'],
    ['runGraph', [{ ...run, limits: null }], 'The input of runGraph has no valid limits'],
    ['scheduledTrigger', [null], 'The input of scheduledTrigger must be an object'],
    ['scheduledTrigger', [{}], 'The input of scheduledTrigger has no valid workspace_id'],
    ['deliverWebhook', [null], 'The input of deliverWebhook must be an object'],
    [
      'deliverWebhook',
      [{ task_queue: 'q' }],
      'The input of deliverWebhook has no valid backoff_ms',
    ],
    ['sendAlert', [[]], 'The input of sendAlert must be an object'],
    [
      'sendAlert',
      [{ task_queue: 'q', channels: 'chat' }],
      'The input of sendAlert has no valid channels',
    ],
    ['sweep', [], 'The input of sweep must be an object'],
    [
      'sweep',
      [{ task_queue: 'q', progress: { done: 1 } }],
      'The input of sweep has no valid progress',
    ],
  ])('of %s, %j, fails with a reason', async (type, args, message) => {
    const { client, queues } = engine.deps.temporal;
    const failure = await client.workflow
      .execute(type, {
        args,
        taskQueue: queues.control,
        workflowId: `malformed-${Math.random()}`,
        workflowExecutionTimeout: '20s',
      })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const { cause } = failure as WorkflowFailedError;
    expect(cause?.message).toContain(message);
  });
});
