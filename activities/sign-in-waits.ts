import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import {
  type MissingAccount,
  openSignInWait,
  SIGN_IN_WAIT_DAYS,
} from '#shared/db/waits/sign-ins.ts';
import { FAILURE_NO_SLOT, type StepCall, type WaitForCall } from '#shared/execution.ts';
import { NodeError } from '#shared/node-error.ts';
import { SignInError } from '#shared/operations/connections/tokens.ts';
import type { Attempt } from './attempt.ts';
import { labelOf } from './begin-judged.ts';
import { runGone } from './final-errors.ts';
import type { ExecuteNodeDeps } from './step-context.ts';
import { whileAlive } from './until-stored.ts';

/** Steps that wait until a member signs in. They wait in the same way as those without a free call. */

/** The account without a token, for a step that can wait for its member. A rehearsal waits for no one. */
export const missingAccount = (call: StepCall, error: unknown): MissingAccount | undefined =>
  error instanceof SignInError && call.rehearsal === undefined ? error.account : undefined;

/**
 * Lets the step wait. Returns the failure that says so, or the NodeError with which the step fails, because its time is up or a
 * person has decided so. Throws the failure of work that the run no longer accepts.
 */
export async function waitForSignIn(
  { db }: Pick<ExecuteNodeDeps, 'db'>,
  attempt: Attempt,
  call: StepCall,
  account: MissingAccount,
): Promise<ApplicationFailure | NodeError> {
  const { run_id, step_key, node } = call;
  const wait = await whileAlive(attempt, () =>
    openSignInWait(db, {
      ...{ run_id, step_key, node_id: node.id, label: labelOf(call), account },
      execution: attempt.execution,
    }),
  );
  switch (wait.state) {
    case 'open':
      return waits(account, wait.waitMs);
    case 'ready':
      return waits(account, 1);
    case 'late':
      return failure(
        account,
        `and the member whose account this step uses has not signed in within ${SIGN_IN_WAIT_DAYS} days`,
      );
    case 'rejected':
      return failure(account, `and ${wait.by ?? 'an API key'} has rejected the step`);
    case 'gone':
      throw runGone();
    default:
      return wait satisfies never;
  }
}

const failure = ({ connectionName: name }: MissingAccount, reason: string): NodeError =>
  new NodeError(`The connection '${name}' has no token, ${reason}`, {
    retryable: false,
    kind: 'connection',
  });

/** Benign, since nothing has failed. */
function waits({ connectionName: name }: MissingAccount, waitMs: number): ApplicationFailure {
  const detail: WaitForCall = { wait_ms: waitMs, begun: true };
  return ApplicationFailure.create({
    message: `Waiting for a sign-in to the connection '${name}'`,
    type: FAILURE_NO_SLOT,
    nonRetryable: true,
    details: [detail],
    category: ApplicationFailureCategory.BENIGN,
  });
}
