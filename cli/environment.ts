import { homedir } from 'node:os';
import { join } from 'node:path';
import { terminal } from './terminal.ts';

/** The environment of the command. No other module reads environment variables. */
export interface Environment {
  url: string | undefined;
  apiKey: string | undefined;
  token: string | undefined;
  profile: string | undefined;
  /** The folder of the stored profiles. */
  configFolder: string;
  /** Whether the output supports color and redrawing. */
  colour: (output: { isTTY?: boolean }) => boolean;
}

function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  // As in shells, an empty variable counts as unset.
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const plain = given('NO_COLOR') !== undefined || env['TERM'] === 'dumb';
  return {
    url: given('OPS_API_URL'),
    apiKey: given('OPS_API_KEY'),
    token: given('OPS_TOKEN'),
    profile: given('OPS_PROFILE'),
    configFolder: join(given('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'ops'),
    colour: ({ isTTY }) => isTTY === true && !plain,
  };
}

export const environment = (): Environment => readEnvironment(terminal().env);
