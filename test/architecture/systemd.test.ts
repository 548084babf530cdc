import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { environmentSchema } from '#shared/platform/config.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const names = ['migrate', 'api', 'worker'].map((part) => `durable-workflows-${part}.service`);

/** The directives of a unit: each with its values in order. */
function unitOf(name: string): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  for (const line of read(`deploy/systemd/${name}`).split('\n')) {
    const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined) directives.set(key, [...(directives.get(key) ?? []), value]);
  }
  return directives;
}
const secondsOf = (text: string): number =>
  Number.parseInt(text, 10) * (text.endsWith('min') ? 60 : 1);

describe.each(names)('%s', (name) => {
  const unit = unitOf(name);
  const [command = ''] = unit.get('ExecStart') ?? [];

  test('starts a program of the build, with the flags that the image has', () => {
    const [program = '', ...more] = [...command.matchAll(/\/opt\/durable-workflows\/(\S+)/g)].map(
      ([, path = '']) => path,
    );
    expect(more).toEqual([]);
    const source = program.replace(/^dist\/(.*)\.js$/, '$1.ts');
    expect([source, existsSync(join(root, source))]).toEqual([source, true]);
    const flags = command.split(' ').filter((part) => part.startsWith('--'));
    if (program.startsWith('dist/')) {
      expect(flags).toEqual(['--max-semi-space-size=8', '--enable-source-maps']);
      expect(read('docker/entrypoint.sh')).toContain(flags.join(' '));
    }
  });

  test('sets only variables that the service has, and runs as an account without rights', () => {
    const variables = (unit.get('Environment') ?? [])
      .flatMap((text) => text.split(' '))
      .map((text) => text.split('=')[0]!);
    expect(variables).toContain('CONFIG_FILE');
    expect(variables.filter((each) => !Object.hasOwn(environmentSchema.shape, each))).toEqual([]);
    expect(unit.get('User')).toEqual(['workflows']);
    expect(unit.get('CapabilityBoundingSet')).toEqual(['']);
  });
});

test('a worker has the time in which its steps end before it is killed', () => {
  const [stop = ''] = unitOf('durable-workflows-worker.service').get('TimeoutStopSec') ?? [];
  const grace = environmentSchema.shape.SHUTDOWN_GRACE_SECONDS.parse(undefined);
  expect(secondsOf(stop)).toBeGreaterThan(grace);
});

test('the API and the worker start after the migrations', () => {
  for (const name of names.slice(1)) {
    expect(unitOf(name).get('Requires')).toEqual([names[0]]);
    expect(unitOf(name).get('After')).toEqual([names[0]]);
  }
});
