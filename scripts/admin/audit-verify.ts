import { parseArgs } from 'node:util';
import type { AuditVerification } from '#shared/contract/audit/audit.ts';
import { type ChainPlace, listAuditedWorkspaces, verifyAudit } from '#shared/db/audit/chain.ts';
import { runCommand, withDatabase } from './command.ts';

/**
 * `npm run audit:verify [-- --json] [-- --head <workspace>:<position>:<hash>]`: verifies the audit log of every
 * workspace in the database of `DATABASE_URL`, or of the running `npm start`, and the tool calls that needed approval
 * against their decisions. Exits with code 0 if everything is intact, 1 if something was tampered with, 2 if the check failed. `--head` (repeatable) is a head printed by an earlier check and
 * stored elsewhere; the chain must contain it.
 */
interface Checked extends AuditVerification {
  workspace_id: string;
}

function parseHeads(given: readonly string[]): Map<string, ChainPlace> {
  return new Map(
    given.map((text) => {
      const match = /^(.+):(\d{1,15}):([0-9a-f]{64})$/.exec(text);
      if (match === null) throw new Error(`Not a head, <workspace>:<position>:<hash>: ${text}`);
      const [, workspaceId = '', position, hash = ''] = match;
      return [workspaceId, { position: Number(position), hash }];
    }),
  );
}

async function verifyAll(heads: Map<string, ChainPlace>): Promise<Checked[]> {
  return withDatabase(async (db) => {
    const workspaces = new Set([...(await listAuditedWorkspaces(db)), ...heads.keys()]);
    const checked: Checked[] = [];
    for (const id of workspaces) {
      checked.push({ workspace_id: id, ...(await verifyAudit(db, id, heads.get(id))) });
    }
    return checked;
  });
}

/** A line for the log, and one for each problem with a tool call. */
const report = (checked: Checked): string =>
  [
    line(checked),
    ...checked.tool_calls.problems.map(
      ({ run_id, step_key, audit_id, problem }) =>
        `${checked.workspace_id}: TOOL CALL ${step_key} of run ${run_id}: ${problem}` +
        (audit_id === undefined ? '' : `, entry ${audit_id}`),
    ),
  ].join('\n');

function line({
  workspace_id,
  sealed,
  unsealed,
  head,
  first_problem: bad,
  tool_calls,
}: Checked): string {
  const { decisions, made } = tool_calls;
  const entries =
    `${sealed} entries sealed, ${unsealed} waiting, ` +
    `${decisions} decisions at gates and about tool calls, ${made} calls made`;
  if (bad === undefined) {
    const place = head === null ? 'none' : `${workspace_id}:${head.position}:${head.hash}`;
    return `${workspace_id}: whole, ${entries}, head ${place}`;
  }
  const at = [
    ...(bad.position === null ? [] : [`position ${bad.position}`]),
    ...(bad.audit_id === undefined ? [] : [`entry ${bad.audit_id}`]),
  ];
  return `${workspace_id}: TAMPERED WITH: ${[bad.problem, ...at].join(', ')} (${entries})`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      head: { type: 'string', multiple: true, default: [] },
    },
  });
  const checked = await verifyAll(parseHeads(values.head));
  console.log(values.json ? JSON.stringify(checked, null, 2) : checked.map(report).join('\n'));
  return checked.every((each) => each.valid) ? 0 : 1;
}

await runCommand({ says: 'The audit log could not be checked', code: 2 }, main);
