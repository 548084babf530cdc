import type { Activities } from '#activities/index.ts';

type Queue = Exclude<keyof Activities, 'close'>;

/** The activities that workflows call on each task queue. The compiler keeps the list complete. */
const required: { [Q in Queue]: Record<keyof Activities[Q], true> } = {
  control: {
    executeNode: true,
    pauseAtGates: true,
    checkGate: true,
    onFailure: true,
    settleRun: true,
    recordControlSteps: true,
    abandonRun: true,
    loadLedger: true,
    startChild: true,
    lookAtChild: true,
    openWait: true,
    checkWait: true,
    tickSchedule: true,
    executeShortStep: true,
  },
  overflow: { executeNode: true },
  background: { deliverAlert: true, sweepRetention: true, advanceJob: true, failJob: true },
  deliveries: { attemptDelivery: true },
};

/**
 * Throws if an activity is missing. A worker without one would take tasks from the queue and fail them repeatedly, next
 * to workers that could execute them.
 */
export function requireActivities(activities: Activities): void {
  const missing = Object.entries(required).flatMap(([queue, names]) => {
    const present: object = activities[queue as Queue];
    const absent = Object.keys(names).filter(
      (name) => typeof Reflect.get(present, name) !== 'function',
    );
    return absent.length === 0 ? [] : [`${absent.join(', ')} of the ${queue} queue`];
  });
  if (missing.length === 0) return;
  throw new Error(`The worker cannot start: it has no activity ${missing.join('; ')}`);
}
