import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/**
 * Loaded first in the processes of jest, and in their threads. Threads for passwords and expressions give way to the rest
 * of the machine. Tests fill the machine themselves, and would wait for such a thread twenty times as long as it computes.
 */
os.setPriority = () => undefined;
syncBuiltinESMExports();
