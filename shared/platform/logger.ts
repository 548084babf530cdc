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
