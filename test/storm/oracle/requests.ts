import type { Act } from '#test/storm/actions.ts';
import { type Check, createFinding, groupBy } from './check.ts';
import { SHARED_TRIGGER } from './debounce.ts';
import { SUPERSEDED } from './limits.ts';

/** The minimum and maximum number of effects, by the outcomes of the requests. */
export function bounds(acts: readonly Act[]): { least: number; most: number } {
  const count = (outcome: Act['outcome']) => acts.filter((act) => act.outcome === outcome).length;
  const least = count('acknowledged');
  return { least, most: least + count('unknown') };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** One run for each acknowledged trigger, on every surface; at most one per key or event. */
export const triggers: Check = ({ acts, db }) => {
  const finding = createFinding();
  const kinds = new Set(['trigger', 'trigger budgeted', 'hook', 'mcp']);
  const shared = new Set(
    acts.flatMap(({ kind, about }) => (kind === SHARED_TRIGGER ? [text(about['nonce'])] : [])),
  );
  const runs = groupBy(
    db.runs.filter(
      ({ nonce, forked_from }) => nonce !== null && forked_from == null && !shared.has(nonce),
    ),
    ({ nonce }) => nonce ?? '',
  );
  const asked = groupBy(
    acts.filter(({ kind }) => kinds.has(kind)),
    ({ about }) => text(about['nonce']),
  );
  for (const [nonce, requests] of asked) {
    const made = runs.get(nonce) ?? [];
    const { least, most } = bounds(requests);
    const named = requests.some(({ about }) => about['key'] != null || about['eventId'] != null);
    const [low, high] = named ? [Math.min(1, least), Math.min(1, most)] : [least, most];
    finding.expect(
      made.length >= low && made.length <= high,
      made[0]?.id ?? nonce,
      `${low} to ${high} runs for '${nonce}' (${requests[0]?.kind})`,
      {
        runs: made.map(({ id }) => id),
        answers: requests.map(({ id, status, detail }) => [id, status, detail]),
      },
      requests[0]?.at,
    );
    for (const request of requests) {
      if (request.outcome !== 'acknowledged') continue;
      const runId = text(request.about['runId']);
      finding.expect(
        made.some(({ id }) => id === runId),
        runId,
        `the run that ${request.id} was told exists`,
        made.map(({ id }) => id),
        request.at,
      );
    }
  }
  for (const [nonce, made] of runs) {
    finding.expect(
      asked.has(nonce),
      made[0]?.id ?? '',
      'a request that asked for this run',
      nonce,
      made[0]?.created_at,
    );
  }
  for (const { key, run_id } of db.keys) {
    // Of a fork or rerun.
    if (key.includes('/')) continue;
    const run = db.runs.find(({ id }) => id === run_id);
    finding.expect(
      run?.nonce === key.replace(/^key-/, ''),
      run_id,
      `the run of key ${key}`,
      run?.nonce,
    );
  }
  return finding;
};

/** Each iteration of a gate is decided once: by the acknowledged request, and never by a refused one. */
export const decisions: Check = ({ acts, db }) => {
  const finding = createFinding();
  const gates = groupBy(db.gates, ({ reason }) => reason ?? '');
  const audited = groupBy(
    db.audit.filter(({ action }) => action === 'approve' || action === 'reject'),
    ({ details }) => text(details['reason']),
  );
  for (const act of acts.filter(({ kind }) => kind === 'decide')) {
    const reason = text(act.about['reason']);
    const runId = text(act.about['runId']);
    const decided = gates.get(reason) ?? [];
    const entries = audited.get(reason) ?? [];
    const { least, most } = bounds([act]);
    finding.expect(
      decided.length >= least && decided.length <= most,
      runId,
      `${least} to ${most} gates decided by ${act.id} (${act.status ?? 'no answer'})`,
      decided,
      act.at,
    );
    finding.expect(
      entries.length === decided.length,
      runId,
      `${decided.length} audit entries of the decision ${act.id}`,
      entries,
      act.at,
    );
    for (const gate of decided) {
      const wanted = act.about['approved'] === true ? 'approved' : 'rejected';
      finding.expect(
        gate.status === wanted && gate.decided_by === act.about['by'],
        runId,
        `gate ${gate.step_key} ${wanted} by ${String(act.about['by'])}`,
        gate,
        act.at,
      );
      const nodeId = act.about['nodeId'];
      finding.expect(
        nodeId === null || gate.node_id === nodeId,
        runId,
        `${act.id} decides the gate it names, ${String(nodeId)}`,
        gate,
        act.at,
      );
    }
  }
  const decided = db.gates.filter(({ status }) => status === 'approved' || status === 'rejected');
  const timeouts = db.audit.filter(({ action }) => action === 'gate_timeout').length;
  const total = [...audited.values()].flat().length + timeouts;
  finding.expect(
    total === decided.length,
    'gates',
    `${decided.length} audit entries of decisions`,
    total,
  );
  return finding;
};

/** A decision of an open gate is refused only if someone else decided it, or the run is over. */
export const refusedDecisions: Check = ({ acts, db }) => {
  const finding = createFinding();
  const all = acts.filter(({ kind }) => kind === 'decide');
  for (const act of all) {
    if (act.status !== 409) continue;
    const runId = text(act.about['runId']);
    const nodeId = act.about['nodeId'];
    if (typeof nodeId !== 'string') continue;
    // Without another decision of this gate or an end of the run, the gate was open all the time.
    const others = acts.filter(
      (other) =>
        other !== act &&
        other.about['runId'] === runId &&
        (other.about['nodeId'] === nodeId ||
          other.kind === 'cancel' ||
          other.kind === 'resume' ||
          other.about['nodeId'] === null),
    );
    if (others.length > 0) continue;
    const gate = db.gates.find((row) => row.run_id === runId && row.node_id === nodeId);
    if (gate === undefined) continue;
    finding.expect(
      gate.opened_at > act.at,
      runId,
      `${act.id} decides the gate ${nodeId}, which nobody else has decided`,
      `${act.status}: ${act.detail ?? ''}`,
      act.at,
    );
  }
  return finding;
};

const runActions = { cancel: 'cancel', resume: 'resume', override: 'budget_override' } as const;

/** Cancels, resumes and overrides: one audit entry per acknowledged request, and its effect on the run. */
export const runActs: Check = ({ acts, db }) => {
  const finding = createFinding();
  const audited = groupBy(
    db.audit.filter(({ target_type }) => target_type === 'run'),
    ({ target_id, action }) => `${target_id} ${action}`,
  );
  const asked = groupBy(
    acts.filter(({ kind }) => Object.hasOwn(runActions, kind)),
    ({ about, kind }) => `${text(about['runId'])} ${kind}`,
  );
  for (const run of db.runs) {
    for (const [kind, action] of Object.entries(runActions)) {
      const requests = asked.get(`${run.id} ${kind}`) ?? [];
      const entries = audited.get(`${run.id} ${action}`) ?? [];
      const { least, most } = bounds(requests);
      if (requests.length === 0 && entries.length === 0) continue;
      // Newer runs of its key cancel a run once, because it is not resumed.
      const more = kind === 'cancel' && run.error === SUPERSEDED ? 1 : 0;
      finding.expect(
        entries.length >= least + more && entries.length <= most + more,
        run.id,
        `${least + more} to ${most + more} audit entries '${action}'`,
        {
          entries: entries.length,
          answers: requests.map(({ id, status, detail }) => [id, status, detail]),
        },
        requests[0]?.at,
      );
    }
    const resumes = ['resume', 'budget_override'].flatMap(
      (action) => audited.get(`${run.id} ${action}`) ?? [],
    );
    finding.expect(
      run.resumed_count === resumes.length,
      run.id,
      `resumed ${resumes.length} times, as its audit entries say`,
      run.resumed_count,
      run.created_at,
    );
  }
  return finding;
};

/** Each run was admitted once, with one audit entry. */
export const admissions: Check = ({ db }) => {
  const finding = createFinding();
  const actions: Record<string, string> = {
    manual: 'run',
    mcp: 'run',
    webhook: 'webhook_run',
    schedule: 'schedule_run',
    workflow: 'workflow_run',
  };
  const again = new Set(['rerun', 'fork']);
  const entries = groupBy(
    db.audit.filter(
      ({ action, details }) =>
        (Object.values(actions).includes(action) || again.has(action)) &&
        details['joined'] !== true,
    ),
    ({ details }) => text(details['run_id']),
  );
  for (const run of db.runs) {
    const found = entries.get(run.id) ?? [];
    // An experiment has one entry for all of them.
    if (run.experiment_id != null) continue;
    const action = found[0]?.action ?? '';
    const fits = run.forked_from == null ? action === actions[run.trigger] : again.has(action);
    finding.expect(
      found.length === 1 && fits,
      run.id,
      `one audit entry '${actions[run.trigger]}'`,
      found,
      run.created_at,
    );
  }
  const known = new Set(db.runs.map(({ id }) => id));
  for (const [runId, found] of entries) {
    finding.expect(
      known.has(runId),
      runId,
      'the run that the audit log tells of',
      found,
      found[0]?.at,
    );
  }
  return finding;
};

const changeActions: Readonly<Record<string, string>> = {
  'update workflow': 'update',
  'publish workflow': 'publish',
  'publish draft': 'publish_draft',
};

/** Created or changed workflows and budgets, with their audit entries. */
export const definitions: Check = ({ acts, db, startedAt }) => {
  const finding = createFinding();
  const entriesOf = (target: string, action: string) =>
    db.audit.filter((entry) => entry.target_id === target && entry.action === action);
  for (const act of acts) {
    if (act.kind === 'create workflow' && act.outcome === 'acknowledged') {
      const id = text(act.about['madeId']);
      const row = db.workflows.find((workflow) => workflow.id === id);
      finding.expect(
        row !== undefined && entriesOf(id, 'create').length === 1,
        id,
        'the workflow and one audit entry of its making',
        { row, entries: entriesOf(id, 'create') },
        act.at,
      );
    }
    if (act.kind === 'create budget' && act.outcome === 'acknowledged') {
      const id = text(act.about['madeId']);
      finding.expect(
        db.budgets.some((budget) => budget.id === id),
        id,
        'the budget',
        'none',
        act.at,
      );
    }
  }
  const changes = groupBy(
    acts.filter(({ kind }) => Object.hasOwn(changeActions, kind)),
    ({ about, kind }) => `${kind} ${text(about['workflowId'])}`,
  );
  for (const [name, requests] of changes) {
    const id = name.split(' ').at(-1) ?? '';
    const action = changeActions[name.slice(0, name.lastIndexOf(' '))] ?? '';
    const { least, most } = bounds(requests);
    const entries = entriesOf(id, action);
    finding.expect(
      entries.length >= least && entries.length <= most,
      id,
      `${least} to ${most} audit entries '${action}'`,
      { entries, answers: requests.map((request) => [request.id, request.status]) },
      requests[0]?.at,
    );
  }
  const policies = acts.filter(({ kind }) => kind === 'set policies');
  const { least, most } = bounds(policies);
  // Without that of the set-up.
  const entries = db.audit.filter(
    ({ action, at }) => action === 'policy_update' && at >= startedAt,
  );
  finding.expect(
    entries.length >= least && entries.length <= most,
    'policies',
    `${least} to ${most} audit entries 'policy_update'`,
    entries.length,
  );
  for (const workflow of db.workflows) {
    finding.expect(
      workflow.versions === workflow.version,
      workflow.id,
      `versions 1 to ${workflow.version}`,
      workflow.versions,
    );
  }
  return finding;
};

/** No response is an internal error of the service. */
export const answers: Check = ({ acts }) => {
  const finding = createFinding();
  for (const act of acts) {
    finding.expect(
      act.status === null || act.status < 500 || act.status === 503,
      text(act.about['runId']) || act.id,
      'an answer, a refusal or 503',
      `${act.status} ${act.detail ?? ''} (${act.kind}, request ${act.requestId ?? 'unknown'})`,
      act.at,
    );
  }
  return finding;
};

/** At most one run per tick; between ticks, one run per manual trigger. */
export const schedules: Check = ({ acts, db, schedules: known }) => {
  const finding = createFinding();
  for (const { id } of known) {
    const runs = db.runs.filter((run) => run.schedule_id === id);
    const ticks = groupBy(
      runs.filter(({ due_at }) => due_at !== null),
      ({ due_at }) => String(due_at),
    );
    for (const [due, made] of ticks) {
      finding.expect(
        made.length === 1,
        id,
        `one run for ${due}`,
        made.map((run) => run.id),
        Number(due),
      );
    }
    const requests = acts.filter(
      (act) => act.kind === 'trigger schedule' && act.about['scheduleId'] === id,
    );
    const { least, most } = bounds(requests);
    const between = runs.filter(({ due_at }) => due_at === null);
    finding.expect(
      between.length >= least && between.length <= most,
      id,
      `${least} to ${most} runs that somebody asked for`,
      between.map((run) => run.id),
    );
  }
  return finding;
};
