import type { Command } from 'commander';
import { createClient } from '#client/index.ts';
import { refusal } from '#cli/endings.ts';
import { environment } from '#cli/environment.ts';
import { type Profile, readProfiles, writeProfiles } from '#cli/profiles.ts';
import { readSecret, readText } from '#cli/secrets.ts';
import { type GlobalOptions, openOutput } from '#cli/session.ts';
import { recordCommand } from '#cli/records.ts';

export function signInCommands(program: Command): void {
  program
    .command('login')
    .description('sign in, store a profile and use it from now on')
    .option(
      '--email <email>',
      'sign in as this member; prompts for the password, or reads it from standard input',
    )
    .option('--api-key', 'use an API key; prompts for it, or reads it from standard input')
    .action(async function (this: Command) {
      await login(this);
    });

  program
    .command('logout')
    .description('delete the current profile, or that of --profile')
    .action(async function (this: Command) {
      const { configFolder, ...rest } = environment();
      const stored = await readProfiles(configFolder);
      const name = this.optsWithGlobals<GlobalOptions>().profile ?? rest.profile ?? stored.current;
      if (stored.profiles[name] === undefined) throw refusal(`There is no profile '${name}'`);
      const { [name]: _gone, ...profiles } = stored.profiles;
      await writeProfiles(configFolder, { ...stored, profiles });
      openOutput(this).note(`Deleted profile '${name}'`);
    });

  program
    .command('profiles')
    .description('list the stored profiles')
    .action(async function (this: Command) {
      const { current, profiles } = await readProfiles(environment().configFolder);
      // Omits credentials, which only the service needs.
      const rows = Object.entries(profiles).map(([name, { url, email, api_key }]) => ({
        name,
        current: name === current,
        url,
        credential: api_key === undefined ? 'session' : 'API key',
        email: email ?? null,
      }));
      openOutput(this).list(rows, {
        '': (row) => (row.current ? '*' : ' '),
        Profile: 'name',
        Address: 'url',
        Credential: 'credential',
        Member: 'email',
      });
    });

  program
    .command('use')
    .argument('<profile>')
    .description('use another stored profile from now on')
    .action(async function (this: Command, name: string) {
      const { configFolder } = environment();
      const stored = await readProfiles(configFolder);
      if (stored.profiles[name] === undefined) throw refusal(`There is no profile '${name}'`);
      await writeProfiles(configFolder, { ...stored, current: name });
      openOutput(this).note(`Using profile '${name}'`);
    });

  whoami(program);
}

function whoami(program: Command): void {
  recordCommand(program, ['whoami', 'show your account and permissions'], {
    read: (client) => client.getIdentity(),
  });
}

async function login(command: Command): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions & { email?: string; apiKey?: true }>();
  const { configFolder, ...rest } = environment();
  const stored = await readProfiles(configFolder);
  const name = options.profile ?? rest.profile ?? stored.current;
  const url = options.url ?? rest.url ?? stored.profiles[name]?.url ?? 'http://127.0.0.1:8000';
  const profile = options.apiKey
    ? await withApiKey(url)
    : await withPassword(url, options.email ?? (await readText('Email')));
  const profiles = { ...stored.profiles, [name]: profile };
  await writeProfiles(configFolder, { current: name, profiles });
  openOutput(command).note(`Signed in to ${url} as profile '${name}'`);
}

async function withApiKey(url: string): Promise<Profile> {
  const apiKey = await readSecret('API key');
  // Checks the key once, so that a wrong key is reported now.
  await createClient({ baseUrl: url, apiKey }).getWorkspace();
  return { url, api_key: apiKey };
}

async function withPassword(url: string, email: string): Promise<Profile> {
  const password = await readSecret('Password');
  const { token } = await createClient({ baseUrl: url }).login(email, password);
  return { url, token, email };
}
