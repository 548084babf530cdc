import { randomBytes } from 'node:crypto';
import { setting } from './settings.ts';

export interface TestTemporal {
  address: string;
  namespace: string;
  /** Prefix of the names of this file's task queues, so that files share the server but no tasks. */
  taskQueuePrefix: string;
}

export function testTemporal(): TestTemporal {
  return {
    address: setting('TEST_TEMPORAL_ADDRESS'),
    namespace: 'default',
    taskQueuePrefix: `test-${randomBytes(5).toString('hex')}`,
  };
}
