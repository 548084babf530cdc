import { type Check, createFinding, groupBy } from './check.ts';

/** `run:step key:generation`; a step key can itself contain colons. */
function parse(key: string): { runId: string; stepKey: string; generation: number } {
  const parts = key.split(':');
  return {
    runId: parts[0] ?? '',
    stepKey: parts.slice(1, -1).join(':'),
    generation: Number(parts.at(-1)),
  };
}

/**
 * Calls of steps use idempotency keys: the same call always has the same key, and a new key is used only after a
 * definite refusal. There are never more calls than attempts in the ledger.
 */
export const effects: Check = ({ effects: calls, db, deaths }) => {
  const finding = createFinding();
  const steps = new Map(db.steps.map((step) => [`${step.run_id}:${step.step_key}`, step]));
  const runs = new Map(db.runs.map((run) => [run.id, run]));
  const bodies = new Map<string, string>();
  for (const call of calls) {
    const { runId, generation } = parse(call.key);
    finding.expect(
      runs.has(runId) && Number.isInteger(generation),
      runId,
      'an Idempotency-Key that names a run, a step and a generation',
      call.key,
      call.at,
    );
    const body = bodies.get(call.key);
    finding.expect(
      body === undefined || body === call.body,
      runId,
      `the same call under ${call.key}`,
      call.body,
      call.at,
    );
    bodies.set(call.key, call.body);
  }
  const byStep = groupBy(calls, ({ key }) => {
    const { runId, stepKey } = parse(key);
    return `${runId}:${stepKey}`;
  });
  for (const [key, own] of byStep) {
    const step = steps.get(key);
    const runId = key.split(':')[0] ?? '';
    finding.expect(step !== undefined, runId, `a step for the calls of ${key}`, own, own[0]?.at);
    if (step === undefined) continue;
    const generations = new Set(own.map((call) => parse(call.key).generation));
    const definite = own.filter(({ status }) => status === 503).length;
    finding.expect(
      generations.size <= 1 + definite,
      runId,
      `at most ${1 + definite} keys for ${key}`,
      [...generations],
      own[0]?.at,
    );
    // A crash of Postgres can lose the start of an attempt, which is then counted with the next one.
    const lost = deaths.filter(
      ({ part, at }) =>
        part === 'postgres' &&
        at >= (step.started_at ?? 0) - 10_000 &&
        at <= (step.finished_at ?? Infinity) + 10_000,
    ).length;
    finding.expect(
      own.length <= step.attempts + lost,
      runId,
      `at most ${step.attempts} calls of ${key}, one for each attempt`,
      own.map(({ at, status, key: used }) => [at, status, used]),
      own[0]?.at,
    );
    if (step.status === 'success') {
      finding.expect(
        own.some(({ status }) => status === 200),
        runId,
        `a call of ${key} that went well`,
        own,
        own[0]?.at,
      );
    }
  }
  for (const step of db.steps) {
    if (step.tool === null || step.kind !== 'tool' || step.status !== 'success') continue;
    const key = `${step.run_id}:${step.step_key}`;
    finding.expect(
      byStep.has(key),
      step.run_id,
      `a call of ${key}, which succeeded`,
      'none',
      step.started_at,
    );
  }
  return finding;
};

/** No ready process ends by itself, even if others are unreachable. */
export const processes: Check = ({ deaths }) => {
  const finding = createFinding();
  for (const death of deaths) {
    finding.expect(
      death.how !== 'by itself' || death.phase === 'starting',
      death.part,
      'a process that stays up when others are away',
      death,
      death.at,
    );
  }
  return finding;
};
