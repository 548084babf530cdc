import { byCursor } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type {
  Approval,
  CheckedRun,
  Gate,
  JsonObject,
  LinkDecision,
  OpenedLink,
  Run,
} from './types.ts';

export interface AssignmentOptions extends CallOptions {
  /** The gate, if several are open. Default: the oldest. */
  nodeId?: string;
  /** Only this iteration of a loop, or this tool call. */
  stepKey?: string;
}

export interface DecisionOptions extends AssignmentOptions {
  reason?: string;
  /** The `digest` of the gate, so that the decision counts only for what was shown. Required for a tool call. */
  digest?: string;
  /** For an approved tool call: the arguments to send instead. */
  arguments?: JsonObject;
  /** Approves although what the gate shows has changed: the differences that its `stale` has. */
  acceptChanges?: boolean;
  /** Decides nothing, but fails like the decision would. */
  onlyCheck?: boolean;
}

export function gateMethods(send: Send) {
  const listApprovals = (query: QueryOf<'GET /api/approvals'> = {}, options?: CallOptions) =>
    send('GET /api/approvals', [], { query, options });

  return {
    /** One page of open gates, oldest first. */
    listApprovals,
    /** All open gates, oldest first. */
    approvals: (
      query: Omit<QueryOf<'GET /api/approvals'>, 'cursor'> = {},
    ): AsyncGenerator<Approval, void> =>
      byCursor(
        (cursor) => listApprovals({ ...query, cursor }),
        (page) => page.approvals,
      ),
    /** One page of the decisions of the last 30 days, newest first. */
    listDecidedGates: (query: QueryOf<'GET /api/approvals/decided'> = {}, options?: CallOptions) =>
      send('GET /api/approvals/decided', [], { query, options }),
    /** One gate, with what an approver needs to decide it. */
    getGate: (runId: string, stepKey: string, options?: CallOptions): Promise<Gate> =>
      send('GET /api/runs/{id}/gates/{step_key}', [runId, stepKey], { options }),
    /**
     * Assigns a gate to the member who is expected to decide it: the oldest open gate, or the one in the options. Null
     * removes the assignment.
     */
    assignGate: (
      runId: string,
      memberId: string | null,
      { nodeId, stepKey, ...options }: AssignmentOptions = {},
    ): Promise<Run> =>
      send('POST /api/runs/{id}/assign', [runId], {
        body: {
          member_id: memberId,
          node_id: nodeId,
          step_key: stepKey,
        },
        options,
      }),
    /** What the link of an email is about. The token is the credential. Changes nothing. */
    openDecideLink: (token: string, options?: CallOptions): Promise<OpenedLink> =>
      send('POST /api/decide/open', [], { body: { token }, options }),
    /** Decides with the link of an email, as the member who got it. */
    decideByLink: (
      body: BodyOf<'POST /api/decide'>,
      options?: CallOptions,
    ): Promise<LinkDecision> => send('POST /api/decide', [], { body, options }),
    /**
     * Approves or rejects a gate at which a run waits: the oldest open gate, or the one in the options. With `onlyCheck`,
     * `shown` has what the decision would set in motion, and the `digest` to send with it.
     */
    approve: (
      runId: string,
      approved = true,
      input?: JsonObject,
      {
        nodeId,
        stepKey,
        onlyCheck,
        acceptChanges,
        arguments: edited,
        ...given
      }: DecisionOptions = {},
    ): Promise<CheckedRun> => {
      const { reason, digest, ...options } = given;
      return send('POST /api/runs/{id}/approve', [runId], {
        body: {
          approved,
          input,
          node_id: nodeId,
          step_key: stepKey,
          reason,
          digest,
          arguments: edited,
          accept_changes: acceptChanges,
          only_check: onlyCheck,
        },
        options,
      });
    },
  };
}
