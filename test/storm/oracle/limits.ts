import type {
  CallFields,
  ClaimFields,
  JournalRow,
  LimitSettings,
  PlaceFields,
} from '#test/storm/journal.ts';
import { type Check, createFinding } from './check.ts';

/** How long a run can wait while nothing keeps it, in ms: while processes die, and otherwise. */
const STARTED_WITHIN_MS = { storm: 25_000, calm: 5_000 };
const SAMPLE_MS = 250;
const MINUTE_MS = 60_000;
/** The times of the journal are exact; this is for their rounding. */
const ROUNDING_MS = 0.01;

interface Place extends PlaceFields {
  since: number;
  /** Of one that is leaving or pausing: until when one of its steps has a claim. */
  busyUntil: number;
}

/** The rows that limits count, as they were at one time of the journal. */
function createReplay() {
  const places = new Map<string, Place>();
  const limits = new Map<string, LimitSettings>();
  const starts = new Map<string, number[]>();
  /** By run and step. */
  const claims = new Map<string, Map<string, { claim: string; until: number }>>();

  const claimedUntil = (runId: string): number =>
    Math.max(0, ...[...(claims.get(runId)?.values() ?? [])].map(({ until }) => until));
  const inFlight = (place: Place, at: number): boolean =>
    place.state === 'holding' || (goes(place) && at < place.busyUntil);

  return {
    places,
    limits,
    claims,
    /** The places of a key in flight. */
    held: (workflowId: string, key: string, at: number): Place[] =>
      [...places.values()].filter(
        (place) =>
          place.workflow_id === workflowId &&
          place.key === key &&
          inFlight(place, at - ROUNDING_MS),
      ),
    /** The starts with a key of the rate within these seconds. */
    startsWithin: (workflowId: string, key: string, at: number, seconds: number): number =>
      (starts.get(`${workflowId} ${key}`) ?? []).filter(
        (start) => start > at - seconds * 1_000 + ROUNDING_MS && start <= at,
      ).length,
    apply(row: JournalRow): void {
      if (row.about === 'workflow_limits') limits.set(row.fields.workflow_id, row.fields.settings);
      if (row.about === 'rate_tokens') {
        const name = `${row.fields.workflow_id} ${row.fields.key}`;
        starts.set(name, [...(starts.get(name) ?? []), row.at]);
      }
      if (row.about === 'steps') applyClaim(row.at, row.fields);
      if (row.about === 'run_places') {
        const { run_id: runId } = row.fields;
        if (row.change === 'delete') places.delete(runId);
        else places.set(runId, { ...row.fields, since: row.at, busyUntil: claimedUntil(runId) });
      }
    },
  };

  function applyClaim(at: number, { run_id: runId, step_key: step, ...claim }: ClaimFields): void {
    const own = claims.get(runId) ?? new Map<string, { claim: string; until: number }>();
    claims.set(runId, own);
    if (claim.claim === null) own.delete(step);
    else own.set(step, { claim: claim.claim, until: claim.claim_until ?? 0 });
    const place = places.get(runId);
    // A slot that was free once stays so.
    if (place !== undefined && goes(place) && at < place.busyUntil) {
      place.busyUntil = claimedUntil(runId);
    }
  }
}

/** It keeps its slot only for the claims of its steps. */
const goes = ({ state }: Place): boolean => state === 'leaving' || state === 'pausing';

/** Whether a run starts or continues with this row: it has got a slot, and for its start one of the rate. */
const takes = (row: Extract<JournalRow, { about: 'run_places' }>, before: Place | undefined) =>
  row.change !== 'delete' &&
  row.fields.state === 'holding' &&
  (before === undefined || before.state === 'waiting' || before.state === 'away');

/** A run takes a slot only while fewer than `limit` runs of its key are in flight, and executes nothing without one. */
export const slots: Check = ({ db }) => {
  const finding = createFinding();
  const replay = createReplay();
  for (const row of db.journal) {
    const runId = row.about === 'run_places' || row.about === 'steps' ? row.fields.run_id : '';
    const before = replay.places.get(runId);
    if (row.about === 'run_places' && row.fields.key !== null && takes(row, before)) {
      const { workflow_id: workflowId, key } = row.fields;
      const others = replay.held(workflowId, key, row.at).filter((place) => place.run_id !== runId);
      const limit = replay.limits.get(workflowId)?.concurrency?.limit ?? Infinity;
      finding.expect(
        others.length < limit,
        runId,
        `a slot of '${key}' while fewer than ${limit} runs have one`,
        others,
        row.at,
      );
    }
    if (row.about === 'steps' && row.fields.claim !== null) {
      const known = replay.claims.get(runId)?.get(row.fields.step_key)?.claim;
      finding.expect(
        known === row.fields.claim || before?.state === 'holding',
        runId,
        `step ${row.fields.step_key} begins while its run has a slot`,
        before ?? 'no place',
        row.at,
      );
    }
    replay.apply(row);
  }
  return finding;
};

/** Of the runs that wait with the same keys, the one with the highest priority starts, and the oldest of those. */
export const priorities: Check = ({ db }) => {
  const finding = createFinding();
  const replay = createReplay();
  for (const row of db.journal) {
    if (row.about === 'run_places' && takes(row, replay.places.get(row.fields.run_id))) {
      const own = row.fields;
      const passed = [...replay.places.values()].filter(
        (place) =>
          place.state === 'waiting' &&
          place.run_id !== own.run_id &&
          sameQueue(place, own) &&
          (place.priority > own.priority ||
            (place.priority === own.priority && place.seq < own.seq)),
      );
      finding.expect(
        passed.length === 0,
        own.run_id,
        'the first of its queue starts',
        passed,
        row.at,
      );
    }
    replay.apply(row);
  }
  return finding;
};

const sameQueue = (one: PlaceFields, other: PlaceFields): boolean =>
  one.workflow_id === other.workflow_id && one.key === other.key && one.rate_key === other.rate_key;

/** Any window of a rate has at most its number of starts. */
export const rates: Check = ({ db }) => {
  const finding = createFinding();
  const replay = createReplay();
  for (const row of db.journal) {
    replay.apply(row);
    if (row.about !== 'rate_tokens') continue;
    const { workflow_id: workflowId, key } = row.fields;
    const rate = replay.limits.get(workflowId)?.rate;
    if (rate == null) continue;
    const started = replay.startsWithin(workflowId, key, row.at, rate.per_seconds);
    finding.expect(
      started <= rate.limit,
      workflowId,
      `at most ${rate.limit} starts of '${key}' within ${rate.per_seconds} s`,
      started,
      row.at,
    );
  }
  return finding;
};

/** No run waits for long while a slot is free and the rate lets it start; looked at all the time, and at the end. */
export const queues: Check = ({ db, deaths, takenAt }) => {
  const finding = createFinding();
  const replay = createReplay();
  const bound = deaths.length > 0 ? STARTED_WITHIN_MS.storm : STARTED_WITHIN_MS.calm;
  /** By queue: since when its first run could have started. */
  const free = new Map<string, number>();
  const reported = new Set<string>();
  let at = db.journal[0]?.at ?? takenAt;
  for (const row of [...db.journal, undefined]) {
    for (; at < (row?.at ?? takenAt); at += SAMPLE_MS) look();
    if (row === undefined) break;
    if (row.about === 'run_places' && takes(row, replay.places.get(row.fields.run_id))) {
      free.delete(queueOf(row.fields));
    }
    replay.apply(row);
  }
  for (const place of replay.places.values()) {
    finding.expect(
      place.state !== 'waiting',
      place.run_id,
      'nothing waits at the end',
      place,
      place.since,
    );
  }
  return finding;

  function look(): void {
    const queues = new Map<string, Place>();
    for (const place of replay.places.values()) {
      if (place.state === 'waiting') queues.set(queueOf(place), place);
    }
    for (const queue of free.keys()) {
      if (!queues.has(queue)) free.delete(queue);
    }
    for (const [queue, place] of queues) {
      if (!mayStart(place)) free.delete(queue);
      else if (!free.has(queue)) free.set(queue, at);
      if (reported.has(queue)) continue;
      const since = free.get(queue) ?? at;
      finding.expect(
        at - since <= bound,
        place.run_id,
        `the first of queue ${queue} starts within ${bound} ms`,
        place,
        since,
      );
      if (at - since > bound) reported.add(queue);
    }
  }

  function mayStart({ workflow_id: workflowId, key, rate_key: rateKey }: Place): boolean {
    const { concurrency = null, rate = null } = replay.limits.get(workflowId) ?? {};
    // Older runs have to give way.
    const gives = concurrency?.on_limit === 'cancel_running';
    const slot =
      concurrency === null ||
      key === null ||
      gives ||
      replay.held(workflowId, key, at).length < concurrency.limit;
    const token =
      rate === null ||
      rateKey === null ||
      replay.startsWithin(workflowId, rateKey, at, rate.per_seconds) < rate.limit;
    return slot && token;
  }
};

const queueOf = ({ workflow_id: workflowId, key, rate_key: rateKey }: PlaceFields): string =>
  JSON.stringify([workflowId, key, rateKey]);

/** A run that was cancelled for newer ones had enough of them. */
export const superseded: Check = ({ db }) => {
  const finding = createFinding();
  const places = db.journal.flatMap((row) =>
    row.about === 'run_places' && row.change === 'insert' ? [{ ...row.fields, at: row.at }] : [],
  );
  for (const run of db.runs) {
    if (run.error !== SUPERSEDED) continue;
    const own = places.findLast((place) => place.run_id === run.id);
    const newer = places.filter(
      (place) =>
        own !== undefined &&
        sameQueue(place, own) &&
        place.seq > own.seq &&
        place.at <= (run.finished_at ?? 0),
    );
    finding.expect(newer.length > 0, run.id, 'a newer run of its key', newer, run.finished_at);
  }
  return finding;
};

/** The error of a run that was cancelled for newer ones. */
export const SUPERSEDED = 'Cancelled by a newer run with its key';

/** Calls of tools stay within their limits, and every attempt has taken its call. */
export const calls: Check = ({ db, callLimits }) => {
  const finding = createFinding();
  const claims = new Map<string, { claim: string; until: number }>();
  const taken = new Map<string, CallFields & { at: number; open: boolean }>();
  for (const row of db.journal) {
    if (row.about === 'steps') noteClaim(row.at, row.fields);
    if (row.about !== 'limited_calls') continue;
    const { fields, at } = row;
    const name = `${fields.run_id} ${fields.step_key} ${fields.claim} ${fields.scope}`;
    const call = taken.get(name);
    if (row.change !== 'insert') {
      if (call !== undefined && (row.change === 'delete' || fields.ended)) call.open = false;
      continue;
    }
    const own = { ...fields, at, open: true };
    taken.set(name, own);
    const { concurrency = Infinity, per_minute: perMinute = Infinity } =
      callLimits[fields.step_key] ?? {};
    const counted = [...taken.values()].filter(({ scope }) => scope === fields.scope);
    const open = counted.filter((each) => each === own || isLive(each, at));
    finding.expect(
      open.length <= concurrency,
      fields.run_id,
      `at most ${concurrency} calls of ${fields.step_key} at a time`,
      open,
      at,
    );
    const recent = counted.filter((each) => each.at > at - MINUTE_MS + ROUNDING_MS);
    finding.expect(
      recent.length <= perMinute,
      fields.run_id,
      `at most ${perMinute} calls of ${fields.step_key} within a minute`,
      recent.length,
      at,
    );
  }
  return finding;

  function isLive(
    { run_id: runId, step_key: step, claim, open }: CallFields & { open: boolean },
    at: number,
  ): boolean {
    const held = claims.get(`${runId} ${step}`);
    return open && held?.claim === claim && held.until > at + ROUNDING_MS;
  }

  function noteClaim(
    at: number,
    { run_id: runId, step_key: step, claim, claim_until: until }: ClaimFields,
  ): void {
    const name = `${runId} ${step}`;
    const before = claims.get(name);
    if (claim !== null && before?.claim !== claim && callLimits[step] !== undefined) {
      const has = [...taken.values()].some((call) => call.run_id === runId && call.claim === claim);
      finding.expect(has, runId, `a call of the limit for each attempt at ${step}`, claim, at);
    }
    // The claim of a worker that died stays over: its call may have been given to another step.
    if (claim === null || (before?.claim === claim && before.until < at)) claims.delete(name);
    else claims.set(name, { claim, until: until ?? 0 });
  }
};
