import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Act } from './actions.ts';
import type { Evidence, RunRow } from './oracle/evidence.ts';
import { judge } from './oracle/index.ts';

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
