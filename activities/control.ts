import { encodingKeys, METADATA_ENCODING_KEY, RawValue } from '@temporalio/common';
import { loadLedger } from '#shared/db/runs/restart.ts';
import { pauseAtGates } from '#shared/db/gates/openings.ts';
import { abandonRun, type EndedRun, reportFailure } from '#shared/db/runs/ends.ts';
import { settleRun } from '#shared/db/runs/settlements.ts';
import { recordControl } from '#shared/db/runs/log.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { readInputs, type ShownGate } from '#shared/db/gates/shown.ts';
import type { ControlActivities, LedgerState, PauseCall } from '#shared/execution.ts';
import { askedStep } from '#shared/graph/gates/gate-opening.ts';
import { toDollars } from '#shared/money/money.ts';
import { notifyParent } from '#shared/operations/children/notices.ts';
import { startNextAfter } from '#shared/operations/limits/queues.ts';
import { findConsequences } from '#shared/operations/gates/consequences.ts';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import { recordRunSpan } from '#shared/operations/runs/run-span.ts';
import type { Woken } from '#shared/operations/waits/woken.ts';
import { evaluateStoredChecks } from '#shared/platform/threads/run-checks.ts';
import { type ChildDeps, createChildActivities, executionId } from './children.ts';
import { runGone, withFinalErrors } from './final-errors.ts';
import { createWaitActivities } from './waits.ts';
import { checkOpenGate, readsAt } from './gate-rechecks.ts';

/** `ControlActivities`, as the worker implements them. */
export type WorkerControlActivities = Omit<ControlActivities, 'loadLedger'> & {
  loadLedger: (call: { run_id: string }) => Promise<RawValue<LedgerState>>;
};

/**
 * The bookkeeping between steps, as local activities. Each may run twice: after a crash between its commit and the
 * completion of the workflow task, it finds its own earlier write and returns the same result.
 */
export function createControlActivities(
  deps: ChildDeps & {
    sealer: Sealer | undefined;
    woken: Woken;
    /** The public address of the console, for links to gates. */
    publicUrl: string;
  },
): WorkerControlActivities {
  const { db, frames, publicUrl } = deps;
  const alerts = deps.config.alerts.channels.length > 0;
  const hasEnded = endedIn(deps);
  return withFinalErrors({
    pauseAtGates: async (call) => {
      const notice = { execution: executionId(), alerts, publicUrl };
      const shown = await consequencesAt(deps, call);
      const reads = await readsAt(deps, call, shown);
      const paused = await pauseAtGates(db, { ...call, ...notice, shown, reads });
      if (paused.gone === true) throw runGone();
      const { decisions, noticed, left } = paused;
      frames.wakeNow(call.run_id);
      if (left === true) void startNextAfter(deps, call.run_id);
      if (noticed) void notifyParent(deps, call.run_id);
      return { decisions };
    },
    checkGate: (call) => checkOpenGate(deps, { ...call, execution: executionId(), alerts }),
    onFailure: async (call) => {
      const report = { ...call, execution: executionId(), alerts };
      const { ended, ...verdict } = await reportFailure(db, report);
      frames.wakeNow(call.run_id);
      if (ended !== undefined) await hasEnded(call.run_id, ended);
      return verdict;
    },
    settleRun: async (call) => {
      const { status, costMicros, settled, hasParent, hasSlot } = await settleRun(
        db,
        { ...call, execution: executionId() },
        evaluateStoredChecks,
      );
      frames.wakeNow(call.run_id);
      if (settled) await recordRunSpan(deps, call.run_id);
      if (hasParent === true) void notifyParent(deps, call.run_id);
      if (hasSlot === true) void startNextAfter(deps, call.run_id);
      return { status, cost_usd: toDollars(costMicros) };
    },
    recordControlSteps: async (call) => {
      await recordControl(db, { ...call, execution: executionId() });
      frames.wake(call.run_id);
    },
    abandonRun: async (call) => {
      const end = { ...call, runId: call.run_id, execution: executionId(), alerts };
      const ended = await abandonRun(db, end);
      frames.wakeNow(call.run_id);
      if (ended !== undefined) await hasEnded(call.run_id, ended);
    },
    loadLedger: async (call) => rawLedger(await loadLedger(db, call.run_id)),
    ...createChildActivities(deps),
    ...createWaitActivities(deps),
  });
}

const endedIn =
  (deps: ChildDeps) =>
  async (runId: string, { hasParent, hasSlot }: EndedRun): Promise<void> => {
    await recordRunSpan(deps, runId);
    if (hasParent) void notifyParent(deps, runId);
    if (hasSlot) void startNextAfter(deps, runId);
  };

/** What the gates of a run show. Without it, they still open. */
async function consequencesAt(
  deps: DryRunDeps & Pick<ChildDeps, 'log'>,
  { run_id: runId, gates, situation }: PauseCall,
): Promise<ShownGate[]> {
  if (situation === undefined) return [];
  const inputs = await readInputs(deps.db, runId);
  const asked = gates.map((gate) => ({
    ...gate,
    at: askedStep(gate.step_key),
    on_timeout: gate.settings?.on_timeout,
    input: inputs.find(({ step_key, round }) => step_key === gate.step_key && round === gate.round)
      ?.input,
  }));
  try {
    return await findConsequences(deps, runId, { gates: asked, situation });
  } catch (error) {
    deps.log.warn({ err: error, runId }, 'gates open without their consequences');
    return [];
  }
}

/** The ledger as a raw payload: the SDK would encode megabytes in JavaScript, and delay the steps of all tenants. */
const rawLedger = (ledger: LedgerState): RawValue<LedgerState> =>
  RawValue.fromPayload({
    metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON },
    data: Buffer.from(JSON.stringify(ledger)),
  }) as RawValue<LedgerState>;
