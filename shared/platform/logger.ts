import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

export type { Logger };

/**
 * A logger that writes JSON lines, with the same keys everywhere: `requestId workspaceId workflowId runId stepKey`.
 * Credentials in any object are redacted.
 */
export function createLogger(
  options: { name: string; level: string },
  destination?: DestinationStream,
): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
      redact: {
        paths: [
          'authorization',
          '*.authorization',
          '*.*.authorization',
          '*["x-api-key"]',
          '*.*["x-api-key"]',
          'password',
          '*.password',
          'secret',
          '*.secret',
          'token',
          '*.token',
          'apiKey',
          '*.apiKey',
        ],
        censor: '[redacted]',
      },
    },
    destination as DestinationStream,
  );
}

/**
 * Switches to `debug` at a SIGUSR2, and back to the configured level at the next one. `logger` and its `others`, such as
 * long-lived children, which have a level of their own. Returns a function that ends this.
 */
export function switchLevelBySignal(logger: Logger, ...others: Logger[]): () => void {
  const configured = logger.level;
  const onSignal = (): void => {
    const level = logger.level === 'debug' ? configured : 'debug';
    // At the level where it is logged.
    if (level !== 'debug') logger.info({ level }, 'log level changes');
    for (const each of [logger, ...others]) each.level = level;
    if (level === 'debug') logger.info({ level }, 'log level changes');
  };
  process.on('SIGUSR2', onSignal);
  return () => process.off('SIGUSR2', onSignal);
}
