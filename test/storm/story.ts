import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Evidence } from './oracle/evidence.ts';

/**
 * `npm run storm:story -- <folder> <run id>`: prints everything in a storm's folder about one run, in order, with the
 * events of the processes in that time.
 */
const [folder = '', runId = ''] = process.argv.slice(2);
const evidencePath = join(folder, 'evidence.json');
if (!existsSync(evidencePath)) {
  console.error('Usage: npm run storm:story -- <folder of a storm> <run id>');
  process.exit(2);
}
const evidence = JSON.parse(readFileSync(evidencePath, 'utf8')) as Evidence;
const { db } = evidence;
const run = db.runs.find(({ id }) => id === runId);
if (run === undefined) {
  console.error(`There is no run ${runId} in ${evidencePath}`);
  process.exit(2);
}

/** Events of processes are shown from this long before the run until this long after it. */
const AROUND_MS = 5_000;
const lines: [at: number, text: string][] = [];
const tell = (at: number | null, text: string): void => {
  if (at !== null) lines.push([at, text]);
};

tell(run.created_at, `run made: ${run.trigger}, asked for by ${run.nonce}`);
tell(run.finished_at, `run ended: ${run.status} ${run.error ?? ''}`);
for (const act of evidence.acts.filter(
  ({ about }) => about['runId'] === runId || about['nonce'] === run.nonce,
)) {
  const answer = `${act.status ?? 'no answer'} after ${act.until - act.at} ms ${act.detail ?? ''}`;
  tell(act.at, `request ${act.id} over api-${Number(act.about['via']) + 1}: ${answer}`);
}
for (const step of db.steps.filter((row) => row.run_id === runId)) {
  const attempts = `${step.attempts} attempts, ${step.errors} errors, epoch ${step.epoch}`;
  tell(
    step.started_at,
    `step ${step.step_key} began (${step.status}, ${attempts}, ${step.cost} micro-dollars)`,
  );
  tell(step.finished_at, `step ${step.step_key} ended ${step.status}`);
}
for (const { seq, frame, at } of db.frames.filter((row) => row.run_id === runId)) {
  const { type, node_id: nodeId = '', error = '' } = frame;
  tell(at, `frame ${seq} ${type} ${nodeId} ${String(error)}`);
}
for (const gate of db.gates.filter((row) => row.run_id === runId)) {
  tell(
    gate.opened_at,
    `gate ${gate.step_key}, round ${gate.round}: ${gate.status} ${gate.reason ?? ''}`,
  );
}
for (const entry of db.audit.filter(
  ({ target_id, details }) => target_id === runId || details['run_id'] === runId,
)) {
  tell(entry.at, `audit ${entry.action} by ${entry.actor_id} ${JSON.stringify(entry.details)}`);
}
for (const call of evidence.effects.filter(({ key }) => key.startsWith(runId))) {
  tell(call.at, `call of ${call.tool} under ${call.key}: ${call.status}`);
}
const from = run.created_at - AROUND_MS;
const to = (run.finished_at ?? evidence.takenAt) + AROUND_MS;
for (const file of ['chaos.ndjson', 'cluster.ndjson']) {
  for (const line of readFileSync(join(folder, file), 'utf8').trim().split('\n')) {
    const { at, ...event } = JSON.parse(line) as { at: number };
    if (at >= from && at <= to) tell(at, `${file.split('.')[0]} ${JSON.stringify(event)}`);
  }
}

for (const [at, text] of lines.sort(([one], [other]) => one - other)) {
  console.log(`${new Date(at).toISOString().slice(11, 23)}  ${text.trimEnd()}`);
}
console.log('');
console.log(
  `execution  ${JSON.stringify(evidence.executions.find(({ id }) => id === runId) ?? null)}`,
);
console.log(`holds      ${JSON.stringify(db.holds.filter((hold) => hold.run_id === runId))}`);
console.log(`outbox     ${JSON.stringify(db.outbox.filter((row) => row.run_id === runId))}`);
