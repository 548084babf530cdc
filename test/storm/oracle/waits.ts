import { bounds } from './requests.ts';
import { type Check, createFinding, groupBy } from './check.ts';

/** How long the matching of a stored event can take while processes die, in ms. */
const MATCHED_WITHIN_MS = 12_000;

/** One event for each id that was acknowledged, and at most one for the others. */
export const sentEvents: Check = ({ acts, db }) => {
  const finding = createFinding();
  const stored = groupBy(db.sentEvents, ({ given_id }) => given_id ?? '');
  const sent = groupBy(
    acts.filter(({ kind }) => kind === 'send event'),
    ({ about }) => String(about['eventId']),
  );
  for (const [id, requests] of sent) {
    const events = stored.get(id) ?? [];
    const { least, most } = bounds(requests);
    finding.expect(
      events.length >= Math.min(1, least) && events.length <= Math.min(1, most),
      id,
      `one event, if it was acknowledged (${least} to ${most} times)`,
      events,
      requests[0]?.at,
    );
  }
  const taken = groupBy(db.waits, ({ event_id }) => event_id ?? '');
  for (const event of db.sentEvents) {
    const waits = taken.get(event.id) ?? [];
    finding.expect(
      event.woke === waits.length,
      event.id,
      `${waits.length} waits that it ended`,
      event,
      event.created_at,
    );
  }
  return finding;
};

/** Each wait ended with its run, for the reason that its row says, and no event was lost. */
export const waits: Check = ({ db }) => {
  const finding = createFinding();
  const runs = new Map(db.runs.map((run) => [run.id, run]));
  const steps = new Map(db.steps.map((step) => [`${step.run_id} ${step.step_key}`, step]));
  const events = new Map(db.sentEvents.map((event) => [event.id, event]));
  for (const wait of db.waits) {
    const { run_id: runId, step_key: key, ended_at: ended, due_at: due } = wait;
    const run = runs.get(runId);
    const name = `wait ${key}`;
    finding.expect(wait.status !== 'open', runId, `${name} ended with its run`, wait, due);
    const succeeded = wait.status === 'came' || wait.status === 'late';
    if (run?.status === 'success' && succeeded) {
      const step = steps.get(`${runId} ${key}`);
      finding.expect(
        step?.status === 'success',
        runId,
        `the step of ${name} succeeded`,
        step,
        ended,
      );
    }
    if (wait.status === 'late' || (wait.kind === 'time' && wait.status === 'came')) {
      // Both times are the database's.
      finding.expect(
        (ended ?? 0) >= (due ?? 0) - 1,
        runId,
        `${name} not before its time`,
        wait,
        due,
      );
    }
    if (wait.kind === 'event' && wait.status === 'came') {
      const event = events.get(wait.event_id ?? '');
      const fits =
        event !== undefined &&
        event.created_at >= (run?.created_at ?? 0) - 1 &&
        (event.name !== 'paid' || event.act === run?.nonce);
      finding.expect(fits, runId, `an event for ${name}, after the start of its run`, event, ended);
    }
    if (wait.status === 'late') {
      const missed = db.sentEvents.find(
        (event) =>
          event.name === 'paid' &&
          event.act === run?.nonce &&
          event.created_at < (due ?? 0) - MATCHED_WITHIN_MS,
      );
      finding.expect(missed === undefined, runId, `no event came in time for ${name}`, missed, due);
    }
  }
  return finding;
};
