import { type Check, createFinding, groupBy } from './check.ts';

/** What was sent to the address of a step is there once, and ended its wait once, unless its time was over or its run had ended. */
export const callbacks: Check = ({ acts, db }) => {
  const finding = createFinding();
  const stored = new Map(db.callbacks.map((row) => [row.run_id, row]));
  const runs = new Map(db.runs.map((run) => [run.id, run]));
  const received = groupBy(
    db.audit.filter(({ action }) => action === 'callback_receive'),
    ({ target_id }) => target_id,
  );
  const sent = groupBy(
    acts.filter(({ kind }) => kind === 'callback'),
    ({ about }) => String(about['runId']),
  );
  for (const [runId, requests] of sent) {
    const row = stored.get(runId);
    for (const { id, outcome, status, about, at } of requests) {
      const holds =
        outcome === 'acknowledged'
          ? row?.answer === about['answer']
          : status !== 409 || (row !== undefined && row.answer !== about['answer']);
      finding.expect(
        holds,
        runId,
        `the callback as ${id} was answered (${status})`,
        row ?? 'none',
        at,
      );
    }
    const given = requests.filter(({ outcome }) => outcome !== 'refused');
    finding.expect(
      row === undefined || given.some(({ about }) => about['answer'] === row.answer),
      runId,
      'a callback that somebody has sent',
      row,
      row?.received_at,
    );
  }
  for (const [runId, entries] of received) {
    finding.expect(
      entries.length === 1 && stored.has(runId),
      runId,
      'one audit entry of a callback that is there',
      entries,
      entries[0]?.at,
    );
  }
  for (const wait of db.waits.filter(({ kind }) => kind === 'callback')) {
    const row = stored.get(wait.run_id);
    const succeeded = runs.get(wait.run_id)?.status === 'success';
    finding.expect(
      wait.status === 'came'
        ? row !== undefined && wait.answer === row.answer
        : row === undefined || (wait.status === 'cancelled' && !succeeded),
      wait.run_id,
      'a wait that ends with its callback, and only with it',
      { wait, row },
      wait.ended_at,
    );
  }
  for (const { run_id: runId, received_at: at } of db.callbacks) {
    finding.expect(received.has(runId), runId, 'an audit entry of its callback', 'none', at);
  }
  return finding;
};
