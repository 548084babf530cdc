import { callContent, gateContent } from './bound-content.ts';
import type { RunEntry } from './chain.ts';
import type { EvidenceFile, Placed } from './file.ts';
import { digestOf, type Report, sameJson, type Sha256 } from './problem.ts';

type Gate = Placed<'gate'>;

const pathOf = ({ step_key, round }: Gate): string =>
  `gate ${step_key}${round === 1 ? '' : `, round ${round}`}`;

/** Whether the gate was decided in this run. */
export const isDecided = ({ status, reused_from: from }: Gate): boolean =>
  from === null && (status === 'approved' || status === 'rejected');

/** The keys of steps that needed an approval of their own, which can change their arguments. */
export const askedIn = (gates: readonly Gate[]): ReadonlySet<string> =>
  new Set(gates.filter((gate) => gate.gate_kind === 'tool_call').map(({ step_key }) => step_key));

/**
 * Checks that the digests of gates are those of what they showed, and that decisions and the audit log say the same.
 * Returns how many digests it has computed. `partly`: retention may have removed entries.
 */
export function verifyDecisions(
  { head, gates, steps }: EvidenceFile,
  { entries, partly }: { entries: readonly RunEntry[]; partly: boolean },
  { sha256, report }: { sha256: Sha256; report: Report },
): number {
  let computed = 0;
  for (const gate of gates) {
    // The digest of a copied gate is that of another run.
    if (gate.reused_from !== null) continue;
    if (verifyDigest(head.run.id, gate, { sha256, report })) computed += 1;
    if (isDecided(gate)) verifyEntries(gate, { entries, partly }, report);
  }
  verifyVotes(gates, entries, report);
  verifyAnswers(gates, steps, report);
  return computed;
}

/** The steps of gates say what was decided in the last round. */
function verifyAnswers(gates: readonly Gate[], steps: EvidenceFile['steps'], report: Report): void {
  const last = new Map(gates.map((gate) => [gate.step_key, gate]));
  for (const { step, line, output } of steps) {
    const gate = last.get(step.step_key);
    if (step.kind !== 'human_gate' || step.status !== 'success' || output === undefined) continue;
    const { status, input = null } = gate ?? {};
    const answer = { approved: status === 'approved', ...(input === null ? {} : { input }) };
    if (gate?.status !== 'approved' && gate?.status !== 'rejected') {
      report(line, `step ${step.step_key}: status`, 'its gate was not decided');
    } else if (!sameJson(output, answer)) {
      report(line, `step ${step.step_key}: output`, 'it is not what was decided');
    }
  }
}

function verifyDigest(
  runId: string,
  gate: Gate,
  { sha256, report }: { sha256: Sha256; report: Report },
): boolean {
  const { line, digest, decided_digest: decided, consequences, tool_call: call } = gate;
  const expect = (expected: string | null, content: string, what: string): void => {
    if (expected !== content) {
      report(line, `${pathOf(gate)}: ${what}`, 'it is not that of what was shown');
    }
  };
  if (digest === null) return false;
  if (call === null) {
    if (consequences === null) return false;
    const content = digestOf(sha256, gateContent({ ...gate, run_id: runId }, consequences));
    expect(decided ?? digest, content, decided === null ? 'digest' : 'decided_digest');
    return true;
  }
  if (call.arguments === null) return false;
  const of = (args: NonNullable<typeof call.arguments>): string =>
    digestOf(
      sha256,
      callContent({ ...call, run_id: runId, step_key: gate.step_key, arguments: args }),
    );
  expect(digest, of(call.arguments), 'digest');
  if (decided !== null) {
    expect(decided, of(call.decided_arguments ?? call.arguments), 'decided_digest');
  }
  return true;
}

const actions = { approved: 'approve', rejected: 'reject' } as const;

/** The entry of the log for a decision. */
function verifyEntries(
  gate: Gate,
  { entries, partly }: { entries: readonly RunEntry[]; partly: boolean },
  report: Report,
): void {
  const { line, status, by_kind: kind, by_id: byId, decided_digest: decided, digest } = gate;
  if (kind === 'request' || partly) return;
  const own = entries.filter(({ details }) => details['step_key'] === gate.step_key);
  const action = kind === 'deadline' ? 'gate_timeout' : actions[status as keyof typeof actions];
  const found = own.filter((entry) => entry.action === action);
  if (found.length === 0) {
    report(line, `${pathOf(gate)}: status`, `the audit log has no '${action}' of it`);
    return;
  }
  if (kind === 'deadline') return;
  if (!found.some(({ actorId }) => actorId === byId)) {
    report(line, `${pathOf(gate)}: by_id`, 'the audit log names someone else');
  }
  if (!found.some(({ details }) => (details['reason'] ?? null) === gate.reason)) {
    report(line, `${pathOf(gate)}: reason`, 'the audit log has another one');
  }
  const bound = decided ?? digest;
  if (bound !== null && !found.some((entry) => digestIn(entry) === bound)) {
    report(
      line,
      `${pathOf(gate)}: digest`,
      'the decision in the audit log is about something else',
    );
  }
}

/** What a decision in the log was bound to. */
const digestIn = ({ details }: RunEntry): unknown => details['decided_digest'] ?? details['digest'];

/** Each decision in the log has a gate that it could have been about. */
function verifyVotes(gates: readonly Gate[], entries: readonly RunEntry[], report: Report): void {
  for (const { line, action, details, actorId } of entries) {
    if (action !== 'approve' && action !== 'reject') continue;
    const { step_key: stepKey } = details;
    const rounds = gates.filter((gate) => gate.step_key === stepKey);
    const path = `entry '${action}' of ${JSON.stringify(stepKey)}`;
    if (rounds.length === 0) {
      report(line, path, 'its gate is not in the file');
      continue;
    }
    // An earlier approval of several stays open, and a cancel can come before the last one.
    const required = Number(details['required'] ?? 1);
    if (Number(details['approvals'] ?? 1) < required) continue;
    const status = action === 'approve' ? 'approved' : 'rejected';
    const fits = rounds.some(
      (gate) =>
        gate.status === status &&
        gate.by_id === actorId &&
        (gate.digest === null || isBound(gate, details)),
    );
    if (!fits) report(line, path, 'no gate was decided like this');
  }
}

const isBound = ({ digest, decided_digest }: Gate, details: RunEntry['details']): boolean => {
  const bound = details['decided_digest'] ?? details['digest'];
  return bound === undefined || bound === (decided_digest ?? digest);
};
