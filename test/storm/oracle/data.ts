import { bounds } from './requests.ts';
import { type Check, createFinding, groupBy, sum } from './check.ts';

/** Every acknowledged batch exists completely, once; versions have no gap. */
export const records: Check = ({ acts, db }) => {
  const finding = createFinding();
  const byKey = new Map(db.entities.map((entity) => [entity.external_key, entity]));
  const events = new Map(db.dataEvents.map((event) => [event.external_key, event]));
  const versions = groupBy(db.versionActs, ({ external_key, act }) => `${external_key} ${act}`);
  const asked = groupBy(
    acts.filter(({ kind }) => kind === 'ingest'),
    ({ about }) => String(about['nonce']),
  );
  for (const [nonce, requests] of asked) {
    const { least, most } = bounds(requests);
    const shared = String(requests[0]?.about['shared']);
    const own = byKey.get(`own-${nonce}`);
    const there = [
      own !== undefined,
      events.has(`event-${nonce}`),
      versions.has(`${shared} ${nonce}`),
    ];
    finding.expect(
      least === 0 || there.every(Boolean),
      own?.id ?? nonce,
      `the record, the event and the version of ${shared} that ${nonce} sent`,
      there,
      requests[0]?.at,
    );
    finding.expect(
      most > 0 || !there.some(Boolean),
      own?.id ?? nonce,
      `nothing of ${nonce}, which was refused`,
      there,
      requests[0]?.at,
    );
    finding.expect(
      there.every((each) => each === there[0]),
      own?.id ?? nonce,
      `all or nothing of ${nonce}`,
      there,
      requests[0]?.at,
    );
  }
  for (const entity of db.entities) {
    finding.expect(
      entity.versions === entity.version && entity.newest === entity.version,
      entity.id,
      `versions 1 to ${entity.version}`,
      entity,
    );
  }
  finding.expect(
    db.changeProblems.length === 0,
    'changes',
    'one change for each changed attribute',
    db.changeProblems.slice(0, 10),
  );
  return finding;
};

/** Each change has one event, and each event one delivery per subscribed endpoint. */
export const events: Check = ({ acts, db }) => {
  const finding = createFinding();
  const outbound = groupBy(db.outbound, ({ type, about }) => `${type} ${about}`);
  for (const entity of db.entities) {
    finding.expect(
      outbound.get(`entity.created ${entity.id}`)?.length === 1,
      entity.id,
      'one event entity.created',
      outbound.get(`entity.created ${entity.id}`),
    );
    const updates = outbound.get(`entity.updated ${entity.id}`) ?? [];
    const told = new Set(updates.map(({ version }) => version));
    finding.expect(
      updates.length === entity.version - 1 && told.size === updates.length,
      entity.id,
      `${entity.version - 1} events entity.updated, one for each version`,
      updates,
    );
  }
  for (const event of db.dataEvents) {
    const told = outbound.get(`intelligence_event.created ${event.id}`);
    finding.expect(told?.length === 1, event.id, 'one event intelligence_event.created', told);
  }
  const { least, most } = bounds(acts.filter(({ kind }) => kind === 'ping'));
  const pings = db.outbound.filter(({ type }) => type === 'ping');
  finding.expect(
    pings.length >= least && pings.length <= most,
    'pings',
    `${least} to ${most} events ping`,
    pings.length,
  );
  const exported = bounds(acts.filter(({ kind }) => kind === 'export'));
  const exports = db.outbound.filter(({ type }) => type === 'export.completed');
  finding.expect(
    exports.length >= exported.least && exports.length <= exported.most,
    'exports',
    `${exported.least} to ${exported.most} events export.completed`,
    exports.length,
  );
  const deliveries = groupBy(
    db.deliveries,
    ({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`,
  );
  for (const event of db.outbound) {
    for (const endpoint of db.endpoints) {
      if (!endpoint.events.includes(event.type)) continue;
      const own = deliveries.get(`${event.id} ${endpoint.id}`) ?? [];
      finding.expect(own.length === 1, event.id, `one delivery to ${endpoint.id}`, own);
    }
  }
  return finding;
};

const MAX_ATTEMPTS = 8;
/** The cluster's setting. */
const BACKOFF_MS = 150;
/** An attempt's start is read from the clock slightly before its due time. */
const EARLY_MS = 100;
const LATE_MS = 90_000;

/**
 * No delivery is lost: each is delivered, dead after its eighth attempt, or pending with an execution that will retry.
 */
export const deliveries: Check = ({ db, received, executions, takenAt }) => {
  const finding = createFinding();
  const attempts = groupBy(db.attempts, ({ delivery_id, round }) => `${delivery_id} ${round}`);
  const heard = groupBy(received, ({ delivery }) => delivery);
  const open = new Set(executions.filter(({ status }) => status === 'RUNNING').map(({ id }) => id));
  for (const delivery of db.deliveries) {
    const own = attempts.get(`${delivery.id} ${delivery.round}`) ?? [];
    const posts = heard.get(delivery.id) ?? [];
    finding.expect(
      own.length === delivery.attempts,
      delivery.id,
      `${delivery.attempts} attempts written down`,
      own,
      own[0]?.started_at,
    );
    const good = posts.filter(({ status }) => status === 200).length;
    if (delivery.status === 'delivered') {
      finding.expect(
        good >= 1 && own.at(-1)?.status_code === 200,
        delivery.id,
        'a post that was answered 200, and an attempt that says so',
        { posts: posts.map(({ status, at }) => [status, at]), own },
      );
    } else if (delivery.status === 'dead') {
      finding.expect(
        delivery.attempts === MAX_ATTEMPTS,
        delivery.id,
        `dead after ${MAX_ATTEMPTS} attempts`,
        delivery,
      );
    } else {
      const waits =
        !delivery.started ||
        open.has(`delivery-${delivery.id}-${delivery.round}`) ||
        (delivery.next_attempt_at ?? 0) > takenAt - LATE_MS;
      finding.expect(
        waits,
        delivery.id,
        'pending with somebody who will try again',
        delivery,
        delivery.next_attempt_at,
      );
    }
    own.slice(1).forEach((attempt, index) => {
      const before = own[index];
      if (before === undefined) return;
      const pause = attempt.started_at - (before.started_at + before.duration_ms);
      const due = BACKOFF_MS * 2 ** (before.attempt - 1);
      finding.expect(
        pause >= due - EARLY_MS,
        delivery.id,
        `attempt ${attempt.attempt} at least ${due} ms after the one before`,
        `${Math.round(pause)} ms`,
        attempt.started_at,
      );
    });
  }
  return finding;
};

/** Posts to endpoints are signed, and identical in every attempt. */
export const posts: Check = ({ received, db }) => {
  const finding = createFinding();
  const bodies = new Map<string, string>();
  const known = new Set(db.deliveries.map(({ id }) => id));
  for (const post of received) {
    finding.expect(
      post.signatureProblem === undefined,
      post.delivery,
      'a signature that fits',
      post.signatureProblem,
      post.at,
    );
    finding.expect(
      known.has(post.delivery),
      post.delivery,
      'a delivery for the post',
      post.eventId,
      post.at,
    );
    const body = bodies.get(post.delivery);
    finding.expect(
      body === undefined || body === post.body,
      post.delivery,
      'the same bytes in every attempt',
      post.body,
      post.at,
    );
    bodies.set(post.delivery, post.body);
  }
  return finding;
};

/** Every response was charged once, and the accounts match the charges. */
export const credits: Check = ({ acts, db }) => {
  const finding = createFinding();
  const charges = groupBy(db.charges, ({ request_id }) => request_id);
  const paid = acts.filter(({ kind }) => kind === 'read' || kind === 'export');
  for (const act of paid) {
    if (act.outcome !== 'acknowledged') continue;
    const id = String(act.about['requestId']);
    const credits = Number(act.about['credits']);
    const own = charges.get(id) ?? [];
    finding.expect(
      own.length === (credits === 0 ? 0 : 1) && sum(own, (charge) => charge.credits) === credits,
      id,
      `one charge of ${credits}`,
      own,
      act.at,
    );
  }
  const { least, most } = bounds(paid);
  const total = sum(db.charges, (charge) => charge.credits);
  finding.expect(
    db.charges.length <= most,
    'charges',
    `at most ${most} charges (${least} answers)`,
    db.charges.length,
  );
  finding.expect(db.credits.months === total, 'data_months', `${total} credits`, db.credits.months);
  finding.expect(db.credits.keys === total, 'data_key_months', `${total} credits`, db.credits.keys);
  return finding;
};
