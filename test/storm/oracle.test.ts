import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Act } from './actions.ts';
import type { Evidence, RunRow, WaitRow } from './oracle/evidence.ts';
import { judge } from './oracle/index.ts';
import type { JournalRow } from './journal.ts';

/**
 * The evidence of `npm run storm -- --seconds 50 --seed 5 --calm --keep`. Create it again when the evidence changes:
 * see docs/testing.md.
 */
const text = gunzipSync(readFileSync(join(import.meta.dirname, 'calm.evidence.json.gz'))).toString(
  'utf8',
);

/** The first match. Throws if there is none: the plant would have no effect. */
function first<Item>(items: readonly Item[], fits: (item: Item) => boolean, what: string): Item {
  const found = items.find(fits);
  if (found === undefined) throw new Error(`The storm had no ${what}`);
  return found;
}

const acknowledged = (e: Evidence, kind: string): Act =>
  first(
    e.acts,
    (act) => act.kind === kind && act.outcome === 'acknowledged',
    `acknowledged ${kind}`,
  );
const ended = (e: Evidence, status = 'success'): RunRow =>
  first(e.db.runs, (run) => run.status === status, `run with ${status}`);
const remove = <Item>(items: Item[], item: Item): void => void items.splice(items.indexOf(item), 1);
const of = (e: Evidence, runId: string) => e.db.frames.filter((frame) => frame.run_id === runId);
const auditOf = (e: Evidence, action: string) =>
  first(e.db.audit, (entry) => entry.action === action, `audit entry ${action}`);
const budgeted = (e: Evidence) => {
  const budget = first(
    e.db.budgets,
    ({ workflow_id, estimate }) =>
      estimate !== null && e.db.runs.some((run) => run.workflow_id === workflow_id),
    'budget with runs',
  );
  return {
    budget,
    run: first(e.db.runs, (run) => run.workflow_id === budget.workflow_id, 'its run'),
  };
};

const waited = (e: Evidence): WaitRow =>
  first(e.db.waits, ({ node_id, status }) => node_id === 'paid' && status === 'came', 'wait');

type Rows<About> = Extract<JournalRow, { about: About }>;
/** The first row of the journal that is about this, and fits. */
const noted = <About extends JournalRow['about']>(
  e: Evidence,
  about: About,
  fits: (row: Rows<About>) => boolean,
): Rows<About> =>
  first(
    e.db.journal.filter((row): row is Rows<About> => row.about === about),
    fits,
    `row about ${about}`,
  );
/** Inserts rows into the journal, in front of this one. */
const noteBefore = (e: Evidence, row: JournalRow, ...rows: JournalRow[]): void =>
  void e.db.journal.splice(e.db.journal.indexOf(row), 0, ...rows);
/** A run that waits only for a slot. */
const queuedRow = (e: Evidence) =>
  noted(e, 'run_places', ({ fields }) => fields.state === 'waiting' && fields.rate_key === null);

/** Possible violations, planted in a copy of a storm's evidence, and the check that must find each. */
const plants: Record<string, Record<string, (e: Evidence) => void>> = {
  triggers: {
    'a run that was acknowledged is not there': (e) => {
      const { runId } = acknowledged(e, 'trigger').about;
      remove(
        e.db.runs,
        first(e.db.runs, ({ id }) => id === runId, 'such run'),
      );
    },
    'one key has two runs': (e) => {
      const act = first(
        e.acts,
        ({ kind, outcome, about }) =>
          kind === 'trigger' && outcome === 'acknowledged' && about['key'] != null,
        'trigger with a key',
      );
      const run = first(e.db.runs, ({ id }) => id === act.about['runId'], 'such run');
      e.db.runs.push({ ...run, id: 'run_twice' });
    },
    'a refused trigger made a run': (e) => {
      const { nonce } = acknowledged(e, 'hook').about;
      for (const act of e.acts.filter(({ about }) => about['nonce'] === nonce)) {
        act.outcome = 'refused';
      }
    },
  },
  admissions: {
    'a run has no audit entry': (e) => remove(e.db.audit, auditOf(e, 'run')),
  },
  decisions: {
    'two are told that they decided one gate': (e) => {
      first(
        e.acts,
        ({ kind, status }) => kind === 'decide' && status === 409,
        'refused decision',
      ).outcome = 'acknowledged';
    },
    'a gate is decided otherwise than somebody was told': (e) => {
      const { reason } = acknowledged(e, 'decide').about;
      const gate = first(e.db.gates, (row) => row.reason === reason, 'decided gate');
      gate.status = gate.status === 'approved' ? 'rejected' : 'approved';
    },
    'a decision was written down twice': (e) => {
      const entry = auditOf(e, 'approve');
      e.db.audit.push({ ...entry, id: 'audit_twice' });
    },
  },
  'refused decisions': {
    'a decision of an open gate is refused': (e) => {
      const gate = first(e.db.gates, () => true, 'gate');
      e.acts = e.acts.filter(({ about }) => about['runId'] !== gate.run_id);
      e.acts.push({
        id: 'decide-0',
        kind: 'decide',
        at: gate.opened_at + 1,
        until: gate.opened_at + 2,
        outcome: 'refused',
        status: 409,
        about: { runId: gate.run_id, nodeId: gate.node_id, reason: 'x' },
      });
    },
  },
  'cancels and resumes': {
    'a cancel has no audit entry': (e) => remove(e.db.audit, auditOf(e, 'cancel')),
    'a run was resumed more often than anybody asked': (e) => {
      ended(e).resumed_count += 1;
    },
  },
  definitions: {
    'a workflow that was made is not there': (e) => {
      const { madeId } = acknowledged(e, 'create workflow').about;
      remove(
        e.db.workflows,
        first(e.db.workflows, ({ id }) => id === madeId, 'workflow'),
      );
    },
  },
  answers: {
    'somebody is answered 500': (e) => {
      acknowledged(e, 'trigger').status = 500;
    },
  },
  schedules: {
    'a tick has two runs': (e) => {
      const schedule = e.schedules[0]!;
      for (const run of e.db.runs.slice(0, 2)) {
        Object.assign(run, { schedule_id: schedule.id, due_at: 0 });
      }
    },
  },
  rest: {
    'a run never ends': (e) => {
      ended(e).status = 'running';
    },
    'a run is paused at no gate': (e) => {
      ended(e).status = 'paused';
    },
    'something promised is not carried out': (e) => {
      e.db.outbox.push({
        id: 1,
        run_id: ended(e).id,
        kind: 'start',
        attempts: 3,
        last_error: null,
      });
    },
  },
  crashes: {
    'a run failed because a process died': (e) => {
      ended(e, 'failed').failure = { kind: 'crash' };
    },
  },
  steps: {
    'a step goes on in a run that has ended': (e) => {
      const run = ended(e);
      first(e.db.steps, ({ run_id }) => run_id === run.id, 'step').status = 'running';
    },
  },
  frames: {
    'a run ends twice': (e) => {
      const run = ended(e);
      const last = first(of(e, run.id), ({ frame }) => frame.type === 'run_completed', 'frame');
      e.db.frames.push({ ...last, seq: last.seq + 1 });
    },
    'the end of a run is not told': (e) => {
      const run = ended(e);
      remove(
        e.db.frames,
        first(of(e, run.id), ({ frame }) => frame.type === 'run_completed', 'frame'),
      );
    },
    'the end of a step is not told': (e) => {
      const run = ended(e);
      remove(
        e.db.frames,
        first(of(e, run.id), ({ frame }) => frame.type === 'step_completed', 'frame'),
      );
    },
    'a step ends before it begins': (e) => {
      const run = ended(e);
      const [one, two] = of(e, run.id).filter(({ frame }) => frame.node_id !== undefined);
      if (one === undefined || two === undefined) throw new Error('The run has no steps');
      [one.frame, two.frame] = [two.frame, one.frame];
      one.frame = { ...one.frame, type: 'step_completed' };
    },
  },
  executions: {
    'an execution goes on for a run that has ended': (e) => {
      const run = ended(e);
      first(e.executions, ({ id }) => id === run.id, 'execution').status = 'RUNNING';
    },
    'an execution belongs to no run': (e) => {
      e.executions.push({ id: 'run_of_nobody', type: 'run: any', runId: 'x', status: 'RUNNING' });
    },
  },
  'what the API shows': {
    'the API shows another status': (e) => {
      e.api.runs[0]!.status = 'pending';
    },
    'the chain of audit entries is broken': (e) => {
      e.api.audit = { valid: false, problem: 'the entry was removed' };
    },
  },
  streams: {
    'a socket missed a frame': (e) => {
      const { frames } = first(
        e.follows.flatMap(({ connections }) => connections),
        (each) => each.frames.length > 2,
        'socket with frames',
      );
      frames.splice(1, 1);
    },
    'a socket heard a frame twice': (e) => {
      const { frames } = first(
        e.follows.flatMap(({ connections }) => connections),
        (each) => each.frames.length > 1,
        'socket with frames',
      );
      frames.splice(1, 0, frames[0]!);
    },
  },
  'sent events': {
    'an event that was acknowledged is not there': (e) => {
      const { eventId } = acknowledged(e, 'send event').about;
      remove(
        e.db.sentEvents,
        first(e.db.sentEvents, ({ given_id }) => given_id === eventId, 'event'),
      );
    },
    'an event ended a wait that took another': (e) => {
      e.db.sentEvents[0]!.woke += 1;
    },
  },
  waits: {
    'a wait goes on in a run that has ended': (e) => {
      waited(e).status = 'open';
    },
    'a wait has ended too early': (e) => {
      const wait = first(
        e.db.waits,
        ({ kind, status }) => kind === 'time' && status === 'came',
        'wait',
      );
      wait.ended_at = (wait.due_at ?? 0) - 500;
    },
    'a wait took an event of another run': (e) => {
      const wait = waited(e);
      const other = first(
        e.db.sentEvents,
        ({ id, name }) => name === 'paid' && id !== wait.event_id,
        'other event',
      );
      wait.event_id = other.id;
    },
    'an event was lost': (e) => {
      const wait = waited(e);
      Object.assign(wait, { status: 'late', ended_at: wait.due_at });
    },
  },
  callbacks: {
    'a callback that was acknowledged is not there': (e) => {
      const { runId } = acknowledged(e, 'callback').about;
      remove(
        e.db.callbacks,
        first(e.db.callbacks, ({ run_id }) => run_id === runId, 'callback'),
      );
    },
    'a wait ended with another callback': (e) => {
      const wait = first(
        e.db.waits,
        ({ kind, status }) => kind === 'callback' && status === 'came',
        'wait',
      );
      wait.answer = 'another';
    },
    'a callback was taken twice': (e) => {
      e.db.audit.push({ ...auditOf(e, 'callback_receive'), id: 'aud_twice' });
    },
  },
  slots: {
    'a run starts while all slots are taken': (e) => {
      queuedRow(e).fields.state = 'holding';
    },
    'a paused run continues while all slots are taken': (e) => {
      const row = noted(e, 'run_places', ({ fields }) => fields.state === 'away');
      const fields = { ...row.fields, run_id: 'run_other', state: 'holding' } as const;
      noteBefore(e, row, { at: row.at, about: 'run_places', change: 'insert', fields });
      const { at } = row;
      const back = { ...row.fields, state: 'holding' } as const;
      e.db.journal.splice(e.db.journal.indexOf(row) + 1, 0, {
        ...{ at, about: 'run_places', change: 'update', fields: back },
      });
    },
    'a step begins without a slot': (e) => {
      const { run_id: runId } = noted(e, 'steps', ({ fields }) => fields.claim !== null).fields;
      e.db.journal = e.db.journal.filter(
        (row) => row.about !== 'run_places' || row.fields.run_id !== runId,
      );
    },
  },
  queues: {
    'a run waits although a slot is free': (e) => {
      const { fields } = queuedRow(e);
      const row = e.db.journal[0]!;
      const waiting = { ...fields, run_id: 'run_forgotten', key: 'nobody else' };
      noteBefore(e, row, { at: row.at, about: 'run_places', change: 'insert', fields: waiting });
    },
  },
  rates: {
    'more runs start than the rate lets': (e) => {
      const row = noted(e, 'rate_tokens', () => true);
      noteBefore(e, row, ...Array.from({ length: 3 }, () => ({ ...row })));
    },
  },
  priorities: {
    'a run is passed by another of its queue': (e) => {
      const { fields } = queuedRow(e);
      const row = noted(
        e,
        'run_places',
        (each) => each.fields.run_id === fields.run_id && each.fields.state === 'holding',
      );
      const passed = {
        ...row.fields,
        run_id: 'run_passed',
        priority: 100,
        state: 'waiting',
      } as const;
      noteBefore(e, row, { at: row.at, about: 'run_places', change: 'insert', fields: passed });
    },
  },
  debounced: {
    'a run has an input that none of its triggers had': (e) => {
      const { runId } = acknowledged(e, 'trigger settling').about;
      first(e.db.runs, ({ id }) => id === runId, 'such run').nonce = 'another';
    },
    'a trigger is not in the audit log': (e) => {
      const { runId } = acknowledged(e, 'trigger settling').about;
      const entry = first(e.db.audit, ({ details }) => details['run_id'] === runId, 'audit entry');
      remove(e.db.audit, entry);
    },
    'two runs wait for triggers with one key': (e) => {
      const row = noted(e, 'run_places', ({ fields }) => fields.state === 'debounced');
      const fields = { ...row.fields, run_id: 'run_other' };
      noteBefore(e, row, { at: row.at, about: 'run_places', change: 'insert', fields });
    },
  },
  superseded: {
    'a run gave way to no other': (e) => {
      ended(e).error = 'Cancelled by a newer run with its key';
    },
  },
  calls: {
    'a call is made beyond the number at a time': (e) => {
      const row = noted(e, 'limited_calls', ({ fields }) => fields.step_key === 'narrow');
      for (const number of [1, 2]) {
        const call = { ...row.fields, run_id: `run_${number}` };
        noteBefore(
          e,
          row,
          { ...row, change: 'insert', fields: call },
          {
            ...{ at: row.at, about: 'steps', change: 'insert' },
            fields: { ...call, claim_until: row.at + 15_000 },
          },
        );
      }
    },
    'a call is made beyond the number within a minute': (e) => {
      const row = noted(e, 'limited_calls', ({ fields }) => fields.step_key === 'metered');
      const more = Array.from({ length: 20 }, (_, number) => ({
        ...row,
        fields: { ...row.fields, run_id: `run_${number}` },
      }));
      noteBefore(e, row, ...more);
    },
    'an attempt takes no call': (e) => {
      const row = noted(e, 'limited_calls', () => true);
      e.db.journal = e.db.journal.filter(
        (each) => each.about !== 'limited_calls' || each.fields.claim !== row.fields.claim,
      );
    },
  },
  costs: {
    'a step was paid and its run does not know': (e) => {
      ended(e).cost += 1_000;
    },
    'usage has counted a run twice': (e) => {
      e.db.usage.runs += 1;
    },
    'a member is charged too little': (e) => {
      e.db.members.cost -= 1_000;
    },
  },
  budgets: {
    'a counter is not the sum of its ledger': (e) => {
      budgeted(e).budget.reserved += 1;
    },
    'a run that has ended still holds': (e) => {
      const { budget } = budgeted(e);
      first(e.db.holds, ({ budget_id }) => budget_id === budget.id, 'hold').status = 'open';
    },
    'one run too many was let in': (e) => {
      const { budget, run } = budgeted(e);
      for (let more = 0; more < 10; more += 1) e.db.runs.push({ ...run, id: `run_more_${more}` });
      expect(budget.estimate).not.toBeNull();
    },
  },
  caps: {
    'a run costs more than its cap': (e) => {
      Object.assign(ended(e), { cap: 3_000, cost: 50_000 });
    },
  },
  records: {
    'a batch that was acknowledged is not there': (e) => {
      const { nonce } = acknowledged(e, 'ingest').about;
      remove(
        e.db.entities,
        first(
          e.db.entities,
          ({ external_key }) => external_key === `own-${String(nonce)}`,
          'record',
        ),
      );
    },
    'a record lacks a version': (e) => {
      e.db.entities[0]!.versions -= 1;
    },
  },
  events: {
    'an event is told twice': (e) => {
      const event = first(e.db.outbound, ({ type }) => type === 'entity.created', 'event');
      e.db.outbound.push({ ...event, id: 'evt_twice' });
    },
    'an endpoint is not told': (e) => {
      e.db.deliveries.shift();
    },
  },
  deliveries: {
    'nobody received what was delivered': (e) => {
      const delivery = first(e.db.deliveries, ({ status }) => status === 'delivered', 'delivery');
      e.received = e.received.filter((post) => post.delivery !== delivery.id);
    },
    'a delivery is lost': (e) => {
      Object.assign(e.db.deliveries[0]!, { status: 'pending', started: true, next_attempt_at: 0 });
    },
    'a delivery is tried again too early': (e) => {
      const second = first(e.db.attempts, ({ attempt }) => attempt === 2, 'second attempt');
      second.started_at -= 100_000;
    },
  },
  posts: {
    'a signature does not fit': (e) => {
      e.received[0]!.signatureProblem = 'The signature does not fit the body';
    },
  },
  evidence: {
    'a step of a run does not follow': (e) => {
      const { id } = ended(e);
      e.proofs = [{ id, proven: 'nothing', problems: ['line 4, step a: output'] }];
    },
  },
  credits: {
    'an answer was not paid for': (e) => {
      const act = first(
        e.acts,
        ({ about }) => Number(about['credits']) > 0,
        'answer that cost something',
      );
      e.db.charges = e.db.charges.filter(({ request_id }) => request_id !== act.about['requestId']);
    },
    'an account is not the sum of its charges': (e) => {
      e.db.credits.months += 1;
    },
  },
  effects: {
    'a step does one thing under two keys': (e) => {
      const call = first(
        e.effects,
        ({ key, status }) => status === 200 && key.endsWith(':0'),
        'call',
      );
      e.effects.push({ ...call, key: call.key.replace(/0$/, '7') });
    },
    'a step does one thing more often than it was tried': (e) => {
      const call = first(e.effects, ({ status }) => status === 200, 'call');
      e.effects.push(...Array.from({ length: 30 }, () => ({ ...call })));
    },
    'a step that succeeded did nothing': (e) => {
      const step = first(
        e.db.steps,
        ({ tool, status }) => tool !== null && status === 'success',
        'step of a tool',
      );
      e.effects = e.effects.filter(
        ({ key }) => !key.startsWith(`${step.run_id}:${step.step_key}:`),
      );
    },
  },
  processes: {
    'a process ends by itself': (e) => {
      e.deaths.push({
        at: 0,
        part: 'api-1',
        how: 'by itself',
        phase: 'ready',
        exit: 'exit code 1',
      });
    },
  },
};

describe('the storm oracle', () => {
  test('finds no violations in a calm run', () => {
    expect(judge(JSON.parse(text) as Evidence).violations).toEqual([]);
  });

  const rows = Object.entries(plants).flatMap(([check, violations]) =>
    Object.entries(violations).map(([what, plant]) => ({ check, what, plant })),
  );
  test.each(rows)('$check detects that $what', ({ check, plant }) => {
    const evidence = JSON.parse(text) as Evidence;
    const known = judge(evidence).violations.filter(
      (violation) => violation.check === check,
    ).length;
    plant(evidence);
    const found = judge(evidence).violations.filter((violation) => violation.check === check);
    expect(found.length).toBeGreaterThan(known);
  });

  test('has a planted violation for every check', () => {
    const { looked } = judge(JSON.parse(text) as Evidence);
    expect(Object.keys(plants).sort()).toEqual(Object.keys(looked).sort());
  });
});
