import { type Captured, captureCommand } from '#cli/captured.ts';
import type { Inputs } from './inputs.ts';

export type Ops = (args: readonly string[], input?: string) => Promise<Captured>;

/** The command `ops`, for the service and the key of the inputs, without the profiles and settings of the machine. */
export const opsFor =
  ({ url, apiKey }: Pick<Inputs, 'url' | 'apiKey'>): Ops =>
  (args, input = '') =>
    captureCommand(args, {
      input,
      env: { OPS_API_URL: url, OPS_API_KEY: apiKey, NO_COLOR: '1' },
    });
