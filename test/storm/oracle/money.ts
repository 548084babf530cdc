import { CAP_USD, STEP_MICROS } from '#test/storm/workload/graphs.ts';
import { bounds } from './requests.ts';
import { type Check, createFinding, groupBy, sum } from './check.ts';

/** The cost of a run is the sum of its steps, and matches usage, members, the API and the counters of runs. */
export const costs: Check = ({ db, api }) => {
  const finding = createFinding();
  const steps = groupBy(db.steps, ({ run_id }) => run_id);
  for (const run of db.runs) {
    const ofSteps = sum(steps.get(run.id) ?? [], ({ cost }) => cost);
    finding.expect(
      run.cost === ofSteps,
      run.id,
      `a cost of ${ofSteps}, that of its steps`,
      run.cost,
      run.created_at,
    );
    finding.expect(
      run.cost % STEP_MICROS === 0,
      run.id,
      'whole steps paid',
      run.cost,
      run.created_at,
    );
  }
  const total = sum(db.runs, ({ cost }) => cost);
  const owned = sum(
    db.runs.filter(({ created_by }) => created_by !== null),
    ({ cost }) => cost,
  );
  finding.expect(
    db.usage.cost === total,
    'usage',
    `a cost of ${total}, that of all runs`,
    db.usage.cost,
  );
  finding.expect(
    db.members.cost === owned,
    'members',
    `a cost of ${owned}, that of members' runs`,
    db.members.cost,
  );
  finding.expect(api.usage.cost === total, 'GET /api/usage', `a cost of ${total}`, api.usage.cost);
  finding.expect(
    api.overview.cost === total,
    'GET /api/metrics/overview',
    `a cost of ${total}`,
    api.overview.cost,
  );
  // A rehearsal uses no quota.
  const counted = db.runs.filter(({ rehearsed }) => rehearsed !== true);
  const count = counted.length;
  finding.expect(db.usage.runs === count, 'usage', `${count} runs`, db.usage.runs);
  finding.expect(db.counted === count, 'quota', `${count} runs counted`, db.counted);
  finding.expect(api.usage.runs === count, 'GET /api/usage', `${count} runs`, api.usage.runs);
  const ended = (status: string): number => counted.filter((run) => run.status === status).length;
  finding.expect(
    db.usage.succeeded === ended('success'),
    'usage',
    `${ended('success')} succeeded`,
    db.usage.succeeded,
  );
  finding.expect(
    db.usage.failed === ended('failed'),
    'usage',
    `${ended('failed')} failed`,
    db.usage.failed,
  );
  return finding;
};

/** The counters of budgets are the sums of their ledgers; a ledger's rows match the costs of its runs. */
export const budgets: Check = ({ db, api, acts }) => {
  const finding = createFinding();
  const runs = new Map(db.runs.map((run) => [run.id, run]));
  const ledgers = groupBy(db.holds, ({ budget_id }) => budget_id);
  for (const budget of db.budgets) {
    const rows = ledgers.get(budget.id) ?? [];
    const spent = sum(rows, (row) => row.spent);
    const held = sum(rows, (row) => row.held);
    finding.expect(
      budget.spent === spent && budget.reserved === held,
      budget.id,
      `${spent} spent and ${held} reserved, as its ledger says`,
      budget,
    );
    const told = api.budgets.find(({ id }) => id === budget.id);
    finding.expect(
      told?.spent === budget.spent && told.reserved === budget.reserved,
      budget.id,
      'the same from the API',
      told,
    );
    for (const [runId, holds] of groupBy(rows, ({ run_id }) => run_id)) {
      const run = runs.get(runId);
      const ended = run === undefined || run.status === 'success' || run.status === 'failed';
      finding.expect(
        !ended || holds.every(({ status }) => status !== 'open'),
        runId,
        `no hold of a run that has ended in ${budget.name}`,
        holds,
        run?.finished_at,
      );
      if (!ended || run === undefined) continue;
      const settled = sum(holds, (row) => row.spent);
      finding.expect(
        settled === run.cost,
        runId,
        `${run.cost} settled in ${budget.name}`,
        holds,
        run.finished_at,
      );
    }
    admitted(finding, budget, runs, ledgers, acts);
  }
  return finding;
};

/** Of concurrent triggers, as many are admitted as the budget allows. */
function admitted(
  finding: ReturnType<typeof createFinding>,
  budget: Parameters<Check>[0]['db']['budgets'][number],
  runs: ReadonlyMap<string, Parameters<Check>[0]['db']['runs'][number]>,
  ledgers: ReadonlyMap<string, Parameters<Check>[0]['db']['holds']>,
  acts: Parameters<Check>[0]['acts'],
): void {
  if (budget.estimate === null) return;
  const room = Math.floor(budget.limit / budget.estimate);
  const own = [...runs.values()].filter((run) => run.workflow_id === budget.workflow_id);
  finding.expect(
    own.length <= room,
    budget.id,
    `at most ${room} runs in ${budget.name}`,
    own.map(({ id }) => id),
  );
  finding.expect(
    own.every((run) => ledgers.get(budget.id)?.some((hold) => hold.run_id === run.id)),
    budget.id,
    'a hold for every run',
    own.map(({ id }) => id),
  );
  for (const run of own) {
    finding.expect(
      run.status !== 'failed',
      run.id,
      'a run within its estimate is not stopped',
      `${run.failure?.kind}: ${run.error}`,
      run.finished_at,
    );
  }
  const asked = acts.filter(
    (act) => act.kind === 'trigger budgeted' && act.about['workflowId'] === budget.workflow_id,
  );
  const byNonce = groupBy(asked, ({ about }) => String(about['nonce']));
  const certain = [...byNonce.values()].every((requests) =>
    requests.some(({ outcome, status }) => outcome === 'acknowledged' || status === 402),
  );
  if (!certain || byNonce.size <= room) return;
  finding.expect(
    own.length === room,
    budget.id,
    `${room} runs admitted`,
    own.map(({ id }) => id),
    asked[0]?.at,
  );
}

/** A cap stops a run before the step that would exceed it. */
export const caps: Check = ({ db, acts }) => {
  const finding = createFinding();
  const cap = Math.round(CAP_USD * 1e6);
  const overridden = groupBy(
    acts.filter(({ kind }) => kind === 'override'),
    ({ about }) => String(about['runId']),
  );
  for (const run of db.runs) {
    if (run.cap === null || run.cap > cap) continue;
    // A step whose worker was considered dead can be paid twice.
    const again = sum(
      db.steps.filter((step) => step.run_id === run.id),
      (step) => Math.max(0, step.cost - STEP_MICROS),
    );
    const most = run.cap + again;
    finding.expect(run.cost <= most, run.id, `a cost of at most ${most}`, run.cost, run.created_at);
    if (bounds(overridden.get(run.id) ?? []).most > 0) continue;
    finding.expect(
      run.status === 'failed' && run.failure?.kind === 'budget',
      run.id,
      'stopped by its cap',
      `${run.status} ${run.failure?.kind}`,
      run.created_at,
    );
  }
  return finding;
};
