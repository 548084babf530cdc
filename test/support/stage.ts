import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';

type Start<Stage> = () => Stage | Promise<Stage>;
type Stop<Stage> = (stage: Stage) => Promise<unknown>;

const close = (stage: object): Promise<unknown> => (stage as { close(): Promise<unknown> }).close();

/**
 * Starts something before the tests of a file or of a `describe`, and stops it after them, by default with its `close`.
 * Empty until it has started.
 */
export const useStage = <Stage extends object>(
  start: Start<Stage>,
  stop: Stop<Stage> = close,
): Stage => stageOf(start, stop, beforeAll, afterAll);

/** Starts something before each test, and stops it after it. */
export const useStageEach = <Stage extends object>(
  start: Start<Stage>,
  stop: Stop<Stage> = close,
): Stage => stageOf(start, stop, beforeEach, afterEach);

function stageOf<Stage extends object>(
  start: Start<Stage>,
  stop: Stop<Stage>,
  before: (hook: () => Promise<void>) => void,
  after: (hook: () => Promise<void>) => void,
): Stage {
  const stage = {} as Stage;
  let started: Stage | undefined;
  before(async () => {
    started = await start();
    Object.assign(stage, started);
  });
  after(async () => {
    if (started !== undefined) await stop(started);
  });
  return stage;
}
