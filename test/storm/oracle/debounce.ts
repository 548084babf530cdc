import { type Check, createFinding, groupBy } from './check.ts';

/** The requests that share runs. */
export const SHARED_TRIGGER = 'trigger settling';

/**
 * Triggers under a debounce share the run in their responses, which executes with the input of one of them. Each is in
 * the audit log once, and at most one run per key waits for further triggers.
 */
export const debounced: Check = ({ acts, db }) => {
  const finding = createFinding();
  const asked = acts.filter(({ kind }) => kind === SHARED_TRIGGER);
  const told = groupBy(
    asked.filter(({ outcome }) => outcome === 'acknowledged'),
    ({ about }) => String(about['runId']),
  );
  const unknown = asked.filter(({ outcome }) => outcome === 'unknown');
  const entries = groupBy(
    db.audit.filter(({ action }) => action === 'run'),
    ({ details }) => String(details['run_id']),
  );
  for (const [runId, requests] of told) {
    const run = db.runs.find(({ id }) => id === runId);
    const nonces = [...requests, ...unknown].map(({ about }) => about['nonce']);
    finding.expect(
      run !== undefined && nonces.includes(run.nonce),
      runId,
      'a run with the input of one of its triggers',
      run?.nonce ?? 'no run',
      requests[0]?.at,
    );
    const audited = entries.get(runId)?.length ?? 0;
    finding.expect(
      audited >= requests.length && audited <= requests.length + unknown.length,
      runId,
      `an audit entry for each of its ${requests.length} triggers`,
      audited,
      requests[0]?.at,
    );
  }
  /** By workflow and key, the run that waits. */
  const open = new Map<string, string>();
  for (const row of db.journal) {
    if (row.about !== 'run_places') continue;
    const { workflow_id: workflowId, debounce_key: key, run_id: runId, state } = row.fields;
    if (key == null) continue;
    const name = `${workflowId} ${key}`;
    if (row.change === 'delete' || state !== 'debounced') {
      if (open.get(name) === runId) open.delete(name);
      continue;
    }
    const other = open.get(name);
    finding.expect(
      other === undefined || other === runId,
      runId,
      `one run that waits for triggers with the key '${key}'`,
      other,
      row.at,
    );
    open.set(name, runId);
  }
  for (const [name, runId] of open) {
    finding.expect(false, runId, 'no run that waits for triggers at the end', name);
  }
  return finding;
};
