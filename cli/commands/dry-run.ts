import type { DryRun } from '#client/index.ts';
import { readInput, requireOneVersion } from '#cli/input.ts';
import type { Output } from '#cli/output.ts';
import type { Session } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';

export interface DryRunFlags {
  dryRun?: true;
  version?: number;
  draft?: true;
}

/** Prints what a run with this input would do. */
export async function printDryRun(
  { client, output }: Session,
  workflow: string,
  input: string[],
  { version, draft }: DryRunFlags,
): Promise<void> {
  requireOneVersion({ version, draft });
  const { id } = await findWorkflow(client, workflow);
  const report = await client.dryRun(id, await readInput(input), { version, draft });
  if (output.format === 'json') return output.record(report);
  show(output, report);
}

function show(output: Output, report: DryRun): void {
  output.record(report, {
    cost: range(report.cost_usd, (usd) => `$${usd}`),
    duration: range(report.duration_ms, seconds),
    ...listed('no_bound', report.unbounded),
    ...listed('hosts', report.hosts),
    ...listed('secrets', report.secrets),
    ...listed('connections', [...new Set(report.connections.map(shownConnection))]),
  });
  output.note('');
  output.list(report.nodes, {
    Node: 'node_id',
    Runs: ({ executions }) => range(executions, String),
    Cost: ({ cost_usd }) => range(cost_usd, (usd) => `$${usd}`),
    Policies: ({ verdicts }) =>
      verdicts.map(({ policy, decision }) => `${policy} ${decision}`).join(', '),
  });
  for (const { message } of report.warnings) output.note(message);
  for (const { node_id, verdicts } of report.nodes) {
    for (const { decision, reason } of verdicts) {
      if (decision === 'blocked') output.note(`Node ${node_id} is blocked: ${reason}`);
    }
  }
  if (report.budgets.length > 0) {
    output.note('');
    output.list(report.budgets, {
      Budget: 'name',
      Asked: ({ asked_usd }) => `$${asked_usd}`,
      Available: ({ available_usd }) => `$${available_usd}`,
      Fits: ({ fits }) => (fits ? 'yes' : 'no'),
    });
  }
  if (report.gates.length === 0) return;
  output.note('');
  output.list(report.gates, {
    Gate: ({ node_id, workflow }) =>
      workflow === null ? node_id : `${node_id} (in ${workflow.name})`,
    Approvals: 'required',
    Approvers: ({ approvers }) => approvers.map(({ name }) => name).join(', '),
  });
}

const listed = (name: string, values: readonly string[]) =>
  values.length === 0 ? {} : { [name]: values.join(', ') };

const shownConnection = ({ name, account, status }: DryRun['connections'][number]): string =>
  `${name} (${account}${status === null ? '' : `: ${status.replaceAll('_', ' ')}`})`;

const seconds = (ms: number): string => `${ms / 1_000} s`;

function range(
  { min, max }: { min: number; max: number | null },
  text: (value: number) => string,
): string {
  if (max === null) return `${text(min)} or more, no bound`;
  return min === max ? text(min) : `${text(min)} to ${text(max)}`;
}
