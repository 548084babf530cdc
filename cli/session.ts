import { type Client, createClient, type WriteOptions } from '#client/index.ts';
import { type Command, Option } from 'commander';
import { refusal } from './endings.ts';
import { environment } from './environment.ts';
import { createOutput, type Format, type Output } from './output.ts';
import { readProfiles } from './profiles.ts';
import { terminal } from './terminal.ts';

/** The context of a command. */
export interface Session {
  client: Client;
  output: Output;
  /** For commands with `ifMatch`: the state of the record that the caller knows. */
  known: Pick<WriteOptions, 'ifMatch'>;
  /** Whether neither the caller nor a profile names the service, so that its default address is used. */
  isDefault: boolean;
  /** A client with the same credential for another address of the same service. */
  clientAt: (url: string) => Client;
}

export interface GlobalOptions {
  url?: string;
  profile?: string;
  output: Format;
  json?: true;
  timeout?: number;
}

/**
 * The client of the current profile. Environment variables override the profile, and options override both; a
 * credential of either kind in the variables replaces the profile's credential.
 */
async function openSession(command: Command): Promise<Session> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { url, apiKey, token, ...rest } = environment();
  const name = options.profile ?? rest.profile;
  const stored = await readProfiles(rest.configFolder);
  const profile = stored.profiles[name ?? stored.current];
  if (profile === undefined && name !== undefined) throw refusal(`There is no profile '${name}'`);
  const credential =
    apiKey === undefined && token === undefined
      ? { apiKey: profile?.api_key, token: profile?.token }
      : { apiKey, token };
  // A credential is only sent to the address with which it was stored.
  const address = options.url ?? url;
  const elsewhere = address !== undefined && profile !== undefined && address !== profile.url;
  const own = elsewhere && apiKey === undefined && token === undefined ? {} : credential;
  const clientAt = (baseUrl: string | undefined): Client =>
    createClient({ baseUrl, timeout: options.timeout, ...own });
  return {
    client: clientAt(address ?? profile?.url),
    isDefault: address === undefined && profile === undefined,
    clientAt,
    output: openOutput(command),
    known: { ifMatch: command.opts<{ ifMatch?: string }>().ifMatch },
  };
}

export function openOutput(command: Command): Output {
  const { output, json } = command.optsWithGlobals<GlobalOptions>();
  const format = json === true ? 'json' : output;
  return createOutput(terminal().stdout, {
    format,
    colour: environment().colour(terminal().stdout),
  });
}

/** The option of commands that cost or start something. */
export const idempotencyKey = (): Option =>
  new Option('--idempotency-key <key>', 'used twice with the same request, it acts once');

/** The option of every command that changes or deletes one existing record. Its session has the tag as `known`. */
export const ifMatch = (noun: string, otherwise = ''): Option =>
  new Option(
    '--if-match <etag>',
    `only if the ${noun} has this etag, as show and --json print it${otherwise}`,
  );

/** A commander action that receives a session, the arguments and its own options. */
export const inSession = <Options>(
  work: (session: Session, args: string[], options: Options) => Promise<void>,
): ((this: Command, ...given: unknown[]) => Promise<void>) =>
  async function (this: Command) {
    await work(await openSession(this), this.args, this.opts<Options & object>());
  };
