import { randomBytes } from 'node:crypto';
import { setting } from './settings.ts';

export interface TestTemporal {
  address: string;
  namespace: string;
  /** Begins the name of every task queue of this test file, so that files share the server and never a task. */
  taskQueuePrefix: string;
}

export function testTemporal(): TestTemporal {
  return {
    address: setting('TEST_TEMPORAL_ADDRESS'),
    namespace: 'default',
    taskQueuePrefix: `test-${randomBytes(5).toString('hex')}`,
  };
}
