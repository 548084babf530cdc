import { READABLE_TYPE, RUN_WORKFLOW } from '#shared/execution.ts';
import { type Check, createFinding, groupBy } from './check.ts';
import type { Evidence, FrameRow } from './evidence.ts';

const isOpen = (status: string): boolean => ['pending', 'running', 'paused'].includes(status);

/** Nothing is in flight: each run has ended, or waits for a person at an open gate. */
export const rest: Check = ({ db, quiet, healedAt, takenAt }) => {
  const finding = createFinding();
  const gates = groupBy(db.gates, ({ run_id }) => run_id);
  for (const run of db.runs) {
    const open = (gates.get(run.id) ?? []).filter(({ status }) => status === 'open');
    const pausedSteps = db.steps.filter(
      (step) => step.run_id === run.id && step.status === 'paused',
    );
    const waits = run.status === 'paused' && open.length > 0;
    finding.expect(
      !isOpen(run.status) || waits,
      run.id,
      `ended, or paused at an open gate, ${Math.round((takenAt - healedAt) / 1000)} s after the storm`,
      {
        status: run.status,
        open: open.map(({ step_key }) => step_key),
        paused: pausedSteps.map(({ step_key }) => step_key),
      },
      run.created_at,
    );
  }
  for (const row of db.outbox) {
    finding.expect(false, row.run_id, 'nothing left to be carried out', row);
  }
  finding.expect(
    quiet || finding.violations.length > 0,
    'service',
    'at rest after the storm',
    'something went on',
  );
  return finding;
};

/** A crash of a process does not make a run fail. */
export const crashes: Check = ({ db, acts }) => {
  const finding = createFinding();
  const terminated = new Set(
    acts.filter(({ kind }) => kind === 'terminate').map(({ about }) => about['runId']),
  );
  for (const run of db.runs) {
    finding.expect(
      run.failure?.kind !== 'crash' || terminated.has(run.id),
      run.id,
      'no failure of our own making',
      `${run.failure?.kind}: ${run.error}`,
      run.finished_at,
    );
  }
  return finding;
};

const STEP_ENDS = new Set(['success', 'failed', 'skipped', 'cancelled']);

/** All steps of an ended run have ended; those of a successful run, successfully. */
export const steps: Check = ({ db }) => {
  const finding = createFinding();
  const byRun = groupBy(db.steps, ({ run_id }) => run_id);
  for (const run of db.runs) {
    const own = byRun.get(run.id) ?? [];
    for (const step of own) {
      if (!isOpen(run.status)) {
        finding.expect(
          STEP_ENDS.has(step.status),
          run.id,
          `step ${step.step_key} ended with its run (${run.status})`,
          step,
          step.started_at,
        );
      }
      if (run.status === 'success') {
        finding.expect(
          ['success', 'skipped', 'failed'].includes(step.status) &&
            (step.status !== 'failed' || step.kind === 'human_gate' || step.caught === true),
          run.id,
          `step ${step.step_key} of a successful run was successful or skipped`,
          step,
          step.started_at,
        );
      }
      finding.expect(
        STEP_ENDS.has(step.status) === (step.finished_at !== null),
        run.id,
        `step ${step.step_key} has an end if and only if it ended`,
        step,
        step.started_at,
      );
    }
    if (run.status === 'success') {
      finding.expect(
        own.length > 0,
        run.id,
        'the steps of a successful run',
        'none',
        run.created_at,
      );
    }
    if (run.status === 'failed') {
      finding.expect(
        run.failure !== null && run.error !== null,
        run.id,
        'why it failed',
        run,
        run.finished_at,
      );
    }
  }
  const openGates = db.gates.filter(({ status }) => status === 'open');
  const status = new Map(db.runs.map((run) => [run.id, run.status]));
  for (const gate of openGates) {
    const step = byRun.get(gate.run_id)?.find(({ step_key }) => step_key === gate.step_key);
    if (status.get(gate.run_id) !== 'paused') continue;
    finding.expect(
      step?.status === 'paused',
      gate.run_id,
      `step ${gate.step_key} waits at its open gate`,
      step,
      gate.opened_at,
    );
  }
  return finding;
};

const TERMINAL = new Set(['run_completed', 'run_failed']);

/** The frames of a run match its history, in the order of the stream, with one frame per end. */
export const frames: Check = (evidence) => {
  const finding = createFinding();
  const byRun = groupBy(evidence.db.frames, ({ run_id }) => run_id);
  for (const run of evidence.db.runs) {
    const own = byRun.get(run.id) ?? [];
    const types = own.map(({ frame }) => frame.type);
    const count = (type: string): number => types.filter((each) => each === type).length;
    const ends = run.resumed_count + (run.status === 'failed' ? 1 : 0);
    finding.expect(
      count('run_failed') === ends,
      run.id,
      `${ends} frames run_failed (resumed ${run.resumed_count} times, ${run.status})`,
      count('run_failed'),
      run.created_at,
    );
    const completed = run.status === 'success' ? 1 : 0;
    finding.expect(
      count('run_completed') === completed,
      run.id,
      `${completed} frames run_completed (${run.status})`,
      count('run_completed'),
      run.created_at,
    );
    const last = own.at(-1);
    finding.expect(
      (last?.seq ?? 0) <= run.frame_seq,
      run.id,
      'no frame numbered past the run',
      { last: last?.seq, of: run.frame_seq },
      last?.at,
    );
    for (const problem of orderProblems(own)) {
      finding.expect(false, run.id, problem.expected, problem.found, problem.at);
    }
    for (const problem of stepProblems(evidence, run.id, own)) {
      finding.expect(false, run.id, problem.expected, problem.found, problem.at);
    }
    finding.looked += own.length;
  }
  return finding;
};

interface Problem {
  expected: string;
  found: unknown;
  at: number;
}

function orderProblems(frames: readonly FrameRow[]): Problem[] {
  const problems: Problem[] = [];
  const opened = new Map<string, number>();
  let ended = false;
  let before: FrameRow | undefined;
  for (const row of frames) {
    const { type, node_id: nodeId = '' } = row.frame;
    const at = row.at;
    if (before !== undefined && row.at < before.at - 1) {
      problems.push({
        expected: `frame ${row.seq} is not older than the one before`,
        found: [before, row],
        at,
      });
    }
    if (ended && type === 'run_evaluated' && before?.frame.type !== 'run_completed') {
      problems.push({
        expected: 'run_evaluated right after run_completed',
        found: [before, row],
        at,
      });
    }
    if (before?.frame.type === 'run_completed' && type !== 'run_evaluated') {
      problems.push({ expected: 'nothing after run_completed but run_evaluated', found: row, at });
    }
    if (ended && type !== 'run_evaluated') {
      // A resume: steps in progress start again.
      opened.clear();
      ended = false;
    }
    if (type === 'step_started') opened.set(nodeId, (opened.get(nodeId) ?? 0) + 1);
    if (type === 'step_completed' || type === 'step_failed') {
      const open = opened.get(nodeId) ?? 0;
      if (open === 0 && !hasStarted(frames, row)) {
        problems.push({ expected: `step_started of ${nodeId} before its end`, found: row, at });
      }
      opened.set(nodeId, Math.max(0, open - 1));
    }
    if (TERMINAL.has(type)) ended = true;
    before = row;
  }
  return problems;
}

/** A step that started before a failure of its run can end after the resume without starting again. */
const hasStarted = (frames: readonly FrameRow[], end: FrameRow): boolean =>
  frames.some(
    ({ seq, frame }) =>
      seq < end.seq && frame.type === 'step_started' && frame.node_id === end.frame.node_id,
  );

/** The frames of a step match the ledger. */
function stepProblems({ db }: Evidence, runId: string, frames: readonly FrameRow[]): Problem[] {
  const problems: Problem[] = [];
  const byNode = groupBy(
    stepsOf(db, runId).filter(({ status, silent }) => status !== 'skipped' && silent !== true),
    ({ node_id }) => node_id,
  );
  const count = (nodeId: string, type: string): number =>
    frames.filter(({ frame }) => frame.node_id === nodeId && frame.type === type).length;
  for (const [nodeId, steps] of byNode) {
    const started = count(nodeId, 'step_started');
    const completed = count(nodeId, 'step_completed');
    const good = steps.filter(({ status }) => status === 'success');
    const succeeded = good.length;
    // A step that succeeds after its run was canceled stays completed, but a run that is over gets no frame.
    const silent = good.filter((step) => wasOver(frames, step.finished_at ?? 0)).length;
    const at = steps[0]?.started_at ?? 0;
    if (started < steps.length) {
      problems.push({
        expected: `${steps.length} frames step_started of ${nodeId}`,
        found: started,
        at,
      });
    }
    if (completed > succeeded || completed < succeeded - silent) {
      problems.push({
        expected: `${succeeded} frames step_completed of ${nodeId}`,
        found: completed,
        at,
      });
    }
  }
  return problems;
}

/** Whether, according to its frames, the run had failed by then and had not been resumed since. */
function wasOver(frames: readonly FrameRow[], at: number): boolean {
  const before = frames.filter((row) => row.at <= at).at(-1);
  return before?.frame.type === 'run_failed';
}

const stepIndex = new WeakMap<Evidence['db'], Map<string, Evidence['db']['steps']>>();
function stepsOf(db: Evidence['db'], runId: string): Evidence['db']['steps'] {
  let index = stepIndex.get(db);
  if (index === undefined) {
    index = groupBy(db.steps, ({ run_id }) => run_id);
    stepIndex.set(db, index);
  }
  return index.get(runId) ?? [];
}

/** Temporal and Postgres agree on which runs are open. */
export const executions: Check = ({ db, executions: known }) => {
  const finding = createFinding();
  const byId = new Map(known.map((execution) => [execution.id, execution]));
  for (const run of db.runs) {
    const execution = byId.get(run.id);
    const open = execution?.status === 'RUNNING';
    finding.expect(
      open === isOpen(run.status),
      run.id,
      `an execution that is ${isOpen(run.status) ? 'open' : 'closed'} (run ${run.status})`,
      execution ?? 'none',
      run.finished_at ?? run.created_at,
    );
  }
  const runs = new Set(db.runs.map(({ id }) => id));
  for (const execution of known) {
    if (execution.type !== RUN_WORKFLOW && !execution.type.startsWith(READABLE_TYPE)) continue;
    finding.expect(runs.has(execution.id), execution.id, 'a run for the execution', execution);
  }
  return finding;
};

/** The API shows the data of the database. */
export const shown: Check = ({ db, api }) => {
  const finding = createFinding();
  const rows = new Map(db.runs.map((run) => [run.id, run]));
  for (const run of api.runs) {
    const row = rows.get(run.id);
    finding.expect(
      run.status === row?.status && run.cost === row.cost,
      run.id,
      `GET shows ${row?.status} at ${row?.cost}`,
      run,
      row?.created_at,
    );
    finding.expect(
      run.resumable === (row?.status === 'failed'),
      run.id,
      `resumable if and only if it failed (${row?.status})`,
      run,
      row?.created_at,
    );
  }
  const open = db.gates
    .filter((gate) => gate.status === 'open' && rows.get(gate.run_id)?.status === 'paused')
    .map((gate) => `${gate.run_id} ${gate.step_key}`);
  const listed = new Set(api.approvals.map((gate) => `${gate.run_id} ${gate.step_key}`));
  for (const gate of open) {
    finding.expect(
      listed.has(gate),
      gate.split(' ')[0] ?? '',
      `the open gate ${gate} among the approvals`,
      'not listed',
    );
  }
  finding.expect(
    api.audit.valid,
    'audit',
    'a chain of audit entries that holds',
    api.audit.problem,
  );
  finding.expect(db.unsealed === 0, 'audit', 'every entry sealed', db.unsealed);
  return finding;
};

/** Each socket received a contiguous part of its run's frames, once and in order. */
export const streams: Check = ({ db, follows, healedAt }) => {
  const finding = createFinding();
  const byRun = groupBy(db.frames, ({ run_id }) => run_id);
  const runs = new Map(db.runs.map((run) => [run.id, run]));
  for (const { runId, connections, read } of follows) {
    const stored = (byRun.get(runId) ?? []).map(({ frame }) => canonical(frame));
    for (const { frames: told, openedAt, closedAt } of connections) {
      const heard = told.map((text) => canonical(JSON.parse(text)));
      finding.expect(
        isStretch(heard, stored),
        runId,
        'a stretch of the frames of the run, without gap or repetition',
        { heard, stored },
        openedAt,
      );
      // A socket that was open from before the last frame until after it has received that frame.
      const last = byRun.get(runId)?.at(-1);
      const stayed = openedAt !== null && last !== undefined && openedAt < last.at - 1_000;
      if (!stayed || last.at < healedAt || (closedAt !== null && closedAt < last.at + 5_000)) {
        continue;
      }
      finding.expect(
        heard.at(-1) === stored.at(-1),
        runId,
        'the last frame, on a socket that was open',
        heard,
        last.at,
      );
    }
    const run = runs.get(runId);
    finding.expect(
      read === null || run === undefined || isOpen(run.status) || read.status === run.status,
      runId,
      `${run?.status}, as read on the last opening or frame`,
      read,
      run?.finished_at,
    );
  }
  return finding;
};

const canonical = (frame: object): string =>
  JSON.stringify(Object.entries(frame).sort(([a], [b]) => (a < b ? -1 : 1)));

function isStretch(part: readonly string[], whole: readonly string[]): boolean {
  if (part.length === 0) return true;
  for (let from = 0; from + part.length <= whole.length; from += 1) {
    if (part.every((item, index) => item === whole[from + index])) return true;
  }
  return false;
}
