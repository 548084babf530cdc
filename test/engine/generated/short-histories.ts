import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '#scripts/stack/ports.ts';
import { startTemporal } from '#scripts/stack/temporal.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';

/** Runs continue as new after about so many events: at every second or third step in the long lane. */
const EVENTS = 16;

/** The engine on a Temporal server of its own, on which runs continue as new all the time. */
export async function startEngineOfShortHistories(): Promise<Engine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'short-histories-'));
  const [port = 0] = await freePorts(1);
  const temporal = await startTemporal({
    ...{ dataDir, projectDir: join(import.meta.dirname, '../../..'), port },
    dynamicConfig: {
      'limit.historyCount.suggestContinueAsNew': EVENTS,
      // By default an execution waits until a second after the start of the one that it continues.
      'history.continueAsNewMinInterval': '"0s"',
    },
  });
  const engine = await startEngine({ env: { TEMPORAL_ADDRESS: temporal.address } });
  return {
    ...engine,
    close: async () => {
      await engine.close();
      await temporal.stop(500);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
