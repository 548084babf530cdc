import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  IntegrityConstraintViolationError,
  StatementTimeoutError,
  UnexpectedStateError,
} from 'slonik';
import type { ErrorCode } from '#shared/errors.ts';

interface Refusal {
  code: ErrorCode;
  detail: string;
}

/** The errors for constraint violations. A constraint that is not listed here is a bug, and gives a 500. */
const constraints: Record<string, Refusal> = {
  members_email: { code: 'conflict', detail: 'A member with this email already exists' },
  workspace_slack_team: {
    code: 'conflict',
    detail:
      'This Slack team already belongs to another workspace of this service: turn it off there first',
  },
  data_sources_workspace_id_is_demo_name_key: {
    code: 'conflict',
    detail: 'A source with this name already exists',
  },
  // The workflow was deleted between reading it and writing its run.
  runs_workflow_id_fkey: { code: 'not_found', detail: 'Workflow not found' },
  runs_workflow_id_workflow_version_fkey: { code: 'not_found', detail: 'Workflow not found' },
};

const unreachable: Refusal = {
  code: 'unavailable',
  detail: 'The database cannot be reached; try again',
};
const busy: Refusal = { code: 'unavailable', detail: 'The database is busy; try again' };

/** Postgres is shutting down or starting up, has no free connections, or has become a standby. */
const unreachableStates = /^(08\w{3}|57P0[1-5]|53300|53400|25006)$/;
/** A conflict between two transactions. One of them can be repeated. */
const retryStates = /^(40001|40P01|55P03)$/;
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** The caller's error for a failed statement, or undefined for an internal error. */
export function databaseProblem(error: unknown): Refusal | undefined {
  for (
    let at = error, depth = 0;
    isFailure(at) && depth < 8;
    at = at.cause ?? at.context, depth += 1
  ) {
    const refusal = judge(at);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** An error of any realm. An event emitter puts an error of another realm into `context`. */
interface Failure {
  message: string;
  code?: unknown;
  syscall?: unknown;
  cause?: unknown;
  context?: unknown;
}

const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && 'message' in value;

function judge(error: Failure): Refusal | undefined {
  if (error instanceof IntegrityConstraintViolationError) {
    return constraints[error.constraint ?? ''];
  }
  if (
    error instanceof ConnectionError ||
    error instanceof BackendTerminatedError ||
    error instanceof BackendTerminatedUnexpectedlyError
  ) {
    return unreachable;
  }
  if (error instanceof StatementTimeoutError || error instanceof IdleTransactionTimeoutError) {
    return busy;
  }
  if (error instanceof UnexpectedStateError) {
    return /pool/i.test(error.message) ? unreachable : undefined;
  }
  const { code } = error;
  if (typeof code !== 'string') return undefined;
  if (retryStates.test(code)) return busy;
  // The socket of a Postgres on this machine, and not a file.
  if (code === 'ENOENT') return error.syscall === 'connect' ? unreachable : undefined;
  return unreachableStates.test(code) || networkCodes.has(code) ? unreachable : undefined;
}
