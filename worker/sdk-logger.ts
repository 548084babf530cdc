import type { Logger as SdkLogger, LogLevel } from '@temporalio/worker';
import type { Logger } from '#shared/platform/logger.ts';

/**
 * Writes the SDK's and the workflows' log lines to the service's log. A failed step or run is logged at `info`, since
 * it is in the run's record; `warn` and above are for operators.
 */
export function createSdkLogger(log: Logger): SdkLogger {
  const write = (level: LogLevel, message: string, meta: object = {}): void => {
    const fields = { ...meta };
    switch (level) {
      case 'TRACE':
      case 'DEBUG':
        return log.debug(fields, message);
      case 'INFO':
        return log.debug(fields, message);
      case 'WARN':
        return belongsToRun(message) ? log.info(fields, message) : log.warn(fields, message);
      case 'ERROR':
        return log.error(fields, message);
    }
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}

const belongsToRun = (message: string): boolean =>
  message === 'Activity failed' ||
  message === 'Workflow failed' ||
  // The worker for steps intentionally has none.
  message.startsWith('No workflows registered');
