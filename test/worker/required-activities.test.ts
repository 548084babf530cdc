import { expect, test } from '@jest/globals';
import type { Activities } from '#activities/index.ts';
import { requireActivities } from '#worker/required-activities.ts';

const activity = async (): Promise<never> => {
  throw new Error('not called');
};

const complete: Activities = {
  control: {
    pauseAtGates: activity,
    checkGate: activity,
    onFailure: activity,
    settleRun: activity,
    recordControlSteps: activity,
    abandonRun: activity,
    loadLedger: activity,
    startChild: activity,
    lookAtChild: activity,
    openWait: activity,
    checkWait: activity,
    tickSchedule: activity,
    executeShortStep: activity,
    executeNode: activity,
  },
  overflow: { executeNode: activity },
  background: {
    deliverAlert: activity,
    sweepRetention: activity,
    advanceJob: activity,
    failJob: activity,
  },
  deliveries: { attemptDelivery: activity },
  close: async () => undefined,
};

test('a worker with every activity can start', () => {
  expect(() => requireActivities(complete)).not.toThrow();
});

test('a worker without the short steps on its control queue cannot start', () => {
  const { executeShortStep: _, ...control } = complete.control;
  expect(() => requireActivities({ ...complete, control } as Activities)).toThrow(
    'The worker cannot start: it has no activity executeShortStep of the control queue',
  );
});

test('all missing activities are named', () => {
  const incomplete = { ...complete, overflow: {}, background: {} } as unknown as Activities;
  expect(() => requireActivities(incomplete)).toThrow(
    'it has no activity executeNode of the overflow queue; deliverAlert, sweepRetention, advanceJob, failJob of the background queue',
  );
});
