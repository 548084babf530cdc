import { expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { echo, edge, mock } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { fetchHistory, resultIn } from '#test/engine/histories.ts';
import { startEngineOfShortHistories } from './short-histories.ts';
import { useStage } from '#test/support/stage.ts';

type History = Awaited<ReturnType<typeof fetchHistory>>;
const completed = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;

const engine = useStage(startEngineOfShortHistories);

/** review (with a deadline), and beside it: long steps -> short */
async function runBeside(longSteps: number): Promise<History> {
  const ids = Array.from({ length: longSteps }, (_, at) => `long_${at}`);
  const runId = await engine.start({
    nodes: [
      { id: 'review', kind: 'human_gate', timeout_seconds: 3_600, on_timeout: 'fail' },
      ...ids.map((id) => mock(id, { delay_ms: 1 })),
      echo('short'),
    ],
    edges: [...ids, 'short'].slice(1).map((id, at) => edge(ids[at]!, id)),
  });
  await engine.until(runId, ['paused']);
  await engine.approve(runId);
  await engine.until(runId, ['success']);
  return fetchHistory(engine, runId);
}

/**
 * The history as it is when the first check of the gate finds it open, after the short step has ended and while the
 * execution writes that it waits. The timer of the gate starts after that. Undefined when the run did not wait in its last
 * execution, which a busy machine can begin at another step.
 */
function withLateCheck({ events }: History): History | undefined {
  const all = events ?? [];
  const first = all.findIndex(({ eventType }) => eventType === completed) + 1;
  const [one, two, pause, shown, again, timer] = all.slice(first, first + 6);
  // Either of them can end first.
  const [check, short] = resultIn(one!).activity_type === 'checkGate' ? [one, two] : [two, one];
  const [firstCheck, secondCheck] = [check, again].map((event) => resultIn(event!));
  const types = [firstCheck, resultIn(short!), resultIn(pause!), secondCheck].map(
    (result) => result?.activity_type,
  );
  if (types.join() !== 'checkGate,executeShortStep,pauseAtGates,checkGate') return undefined;
  // The result of the second check, as that of the first.
  secondCheck!.data!.data = firstCheck!.data!.data!;
  const order = [short!, again!, pause!, shown!, timer!];
  const ids = all.slice(first).map(({ eventId }) => eventId);
  order.forEach((event, at) => {
    event.eventId = ids[at] ?? null;
  });
  return { events: [...all.slice(0, first), ...order] } as History;
}

test('a check of a deadline that ends after a short step, while the run pauses, can be replayed', async () => {
  let history: History | undefined;
  for (let tries = 0; history === undefined && tries < 10; tries += 1) {
    history = withLateCheck(await runBeside(3));
  }
  if (history === undefined) throw new Error('No run waited in its last execution');
  const replayed = Worker.runReplayHistory(
    { workflowBundle: { codePath: setting('WORKFLOW_BUNDLE') } },
    history,
  );
  await expect(replayed).resolves.toBeUndefined();
}, 60_000);
