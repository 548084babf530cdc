import { onceOf, type TriggerOptions } from './idempotency.ts';
import type { CallOptions, Send } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { NodeTest, Pin } from './types.ts';

export type NodeTestOptions = TriggerOptions &
  BodyOf<'POST /api/workflows/{id}/nodes/{node_id}/test'>;

/** Tests of single nodes, and outputs that are pinned for them. */
export function nodeTestMethods(send: Send) {
  return {
    /**
     * Rehearses one node with the state of a past run (`run_id`) or the given `state`, and returns its step. After 10
     * seconds, it returns a run that is still open.
     */
    testNode: (workflowId: string, nodeId: string, given: NodeTestOptions): Promise<NodeTest> => {
      const { run_id, step_key, state, version, draft, allow, pins, ...options } = given;
      return send('POST /api/workflows/{id}/nodes/{node_id}/test', [workflowId, nodeId], {
        body: { run_id, step_key, state, version, draft, allow, pins },
        ...onceOf(options),
      });
    },
    /** The caller's pinned outputs in a workflow, by node. */
    listPins: async (workflowId: string, options?: CallOptions): Promise<Pin[]> =>
      (await send('GET /api/workflows/{id}/pins', [workflowId], { options })).pins,
    /** The caller's pin of a node with its output; undefined if there is none. */
    findPin: async (
      workflowId: string,
      nodeId: string,
      options?: CallOptions,
    ): Promise<Pin | undefined> => {
      const query = { node_id: nodeId };
      return (await send('GET /api/workflows/{id}/pins', [workflowId], { query, options })).pins[0];
    },
    /** Pins the output of a node from a past run, or the `output` of the body instead. */
    savePin: (
      workflowId: string,
      nodeId: string,
      body: BodyOf<'PUT /api/workflows/{id}/pins/{node_id}'>,
      options?: CallOptions,
    ): Promise<Pin> =>
      send('PUT /api/workflows/{id}/pins/{node_id}', [workflowId, nodeId], { body, options }),
    removePin: (workflowId: string, nodeId: string, options?: CallOptions): Promise<void> =>
      send('DELETE /api/workflows/{id}/pins/{node_id}', [workflowId, nodeId], { options }),
  };
}
