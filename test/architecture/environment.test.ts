import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { environmentSchema } from '#shared/platform/config.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Setting {
  name: string;
  value: string;
  /** The whole paragraph of comment lines directly above. */
  explanation: string;
  /** Written as `# NAME=value`: a copy of the file does not set it. */
  commented: boolean;
  section: string;
}

/** Sections of what something other than our configuration reads. */
const foreignSections = [
  'Read by the Temporal SDK itself',
  'Read by the OpenTelemetry SDK itself',
  'Read by the set-up scripts only',
  'Read by docker-compose.yml only',
];

/** The settings of `.env.example`. */
function parseExample(text: string): Setting[] {
  const settings: Setting[] = [];
  let section = '';
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    const heading = /^# --- (.+) ---$/.exec(line);
    const setting = /^(# )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line);
    if (heading) {
      section = heading[1]!;
      comment = [];
    } else if (setting) {
      settings.push({
        name: setting[2]!,
        value: setting[3]!.replace(/^"(.*)"$/, '$1'),
        explanation: comment.join(' '),
        commented: setting[1] !== undefined,
        section,
      });
      comment = [];
    } else if (line.startsWith('# ')) comment.push(line.slice(2));
    else if (line === '') comment = [];
    else throw new Error(`.env.example holds a line that is neither setting nor comment: ${line}`);
  }
  return settings;
}

const settings = parseExample(read('.env.example'));
const own = settings.filter(({ section }) => !foreignSections.includes(section));
const foreign = (section: string): string[] =>
  settings.filter((s) => s.section === section).map((s) => s.name);
const fields = environmentSchema.shape;
const compose = read('docker-compose.yml');

describe('.env.example', () => {
  test('lists every configuration variable once, and no other', () => {
    expect(own.map((setting) => setting.name).sort()).toEqual(Object.keys(fields).sort());
  });

  test('explains every variable in one line', () => {
    const unexplained = settings.filter(
      ({ explanation }) => !/^.{15,120}[.]$/.test(explanation) && !explanation.endsWith('...'),
    );
    expect(unexplained).toEqual([]);
  });

  test.each(own)('shows the default of $name', ({ name, value }) => {
    const field = fields[name as keyof typeof fields];
    const fallback: unknown = field.parse(undefined);
    if (value === '') expect([undefined, []]).toContainEqual(fallback);
    else expect(field.parse(value)).toEqual(fallback);
  });

  test('names Temporal SDK variables exactly as the SDK does', () => {
    const folder = dirname(fileURLToPath(import.meta.resolve('@temporalio/envconfig')));
    const source = readdirSync(folder)
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n');
    const names = foreign('Read by the Temporal SDK itself');
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });

  test('names OpenTelemetry variables exactly as its packages do', () => {
    const source = ['otlp-exporter-base', 'resources']
      .map((name) => join(root, 'node_modules/@opentelemetry', name, 'dist'))
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.mjs'))
          .map((file) => readFileSync(join(folder, file), 'utf8')),
      )
      .join('\n');
    const names = foreign('Read by the OpenTelemetry SDK itself');
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !source.includes(`"${name}"`))).toEqual([]);
  });

  test('names only variables that the setup scripts read', () => {
    const source = readdirSync(join(root, 'scripts'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.m?[jt]s$/.test(file))
      .map((file) => read(join('scripts', file)))
      .join('\n');
    const names = foreign('Read by the set-up scripts only');
    expect(names.filter((name) => !source.includes(name))).toEqual([]);
  });

  test('comments out what other programs read, and what a copy would take from docker-compose.yml', () => {
    const defaults = new Map(
      [...compose.matchAll(/\$\{([A-Z][A-Z0-9_]*):-([^${}]+)\}/g)].map((match) => [
        match[1]!,
        match[2]!,
      ]),
    );
    // Under docker-compose.yml another default holds, which an empty value leaves.
    const overridden = own.filter(
      ({ name, value }) => value !== '' && (defaults.get(name) ?? value) !== value,
    );
    expect(overridden.map(({ name }) => name)).toEqual(['AUTH_MODE']);
    const commented = settings.filter((setting) => setting.commented);
    expect(commented).toEqual(
      settings.filter((s) => foreignSections.includes(s.section) || overridden.includes(s)),
    );
  });
});

describe('docs/configuration.md', () => {
  const rows = [
    ...read('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z0-9_]*)` \| (.*?) \|/gm),
  ].map((match) => ({ name: match[1]!, shown: match[2]! }));

  test('describes its variables once each', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test.each(rows)('shows the default of $name', ({ name, shown }) => {
    const setting = settings.find((each) => each.name === name);
    expect(setting).toBeDefined();
    if (setting!.value === '') expect(shown).not.toMatch(/^`[^`]*`$/);
    else expect(shown).toBe(`\`${setting!.value}\``);
  });
});

describe('docker-compose.yml', () => {
  const interpolated = new Set(
    [...compose.matchAll(/(?<!\$)\$\{([A-Z][A-Z0-9_]*)/g)].map((match) => match[1]!),
  );

  test('passes only variables that the configuration or an SDK reads', () => {
    const names = environmentBlocks(compose, 'x-service-environment').concat(
      ...['api', 'worker', 'migrate'].map((service) => environmentBlocks(compose, service)),
    );
    const readable = new Set([
      ...Object.keys(fields),
      ...foreign('Read by the Temporal SDK itself'),
      ...foreign('Read by the OpenTelemetry SDK itself'),
    ]);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !readable.has(name))).toEqual([]);
  });

  test('passes every setting that our processes read', () => {
    const elsewhere = [
      // Set by the image.
      ...['NODE_ENV', 'DATA_DIR', 'SEED', 'WORKFLOW_BUNDLE'],
      // Of the servers that only `npm start` embeds.
      ...['POSTGRES_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'],
    ];
    const read = [
      ...own.map(({ name }) => name),
      ...foreign('Read by the Temporal SDK itself'),
      ...foreign('Read by the OpenTelemetry SDK itself'),
    ];
    const passed = new Set(
      ['x-service-environment', 'api', 'worker'].flatMap((key) => environmentBlocks(compose, key)),
    );
    expect(read.filter((name) => !passed.has(name) && !elsewhere.includes(name))).toEqual([]);
    expect(elsewhere.filter((name) => passed.has(name))).toEqual([]);
    const fixed = ['API_HOST', 'WORKER_METRICS_HOST', 'WORKER_METRICS_PORT'];
    expect([...passed].filter((name) => !interpolated.has(name)).sort()).toEqual(fixed.sort());
  });

  test('can use other servers, and limits memory and logs', () => {
    const { services } = parse(compose, { merge: true }) as {
      services: Record<string, Record<string, any>>;
    };
    for (const [name, service] of Object.entries(services)) {
      expect([name, service['mem_limit'], service['logging']?.options['max-size']]).toEqual([
        name,
        expect.stringMatching(/\d[mg]\}?$/),
        expect.stringMatching(/^\d+m$/),
      ]);
    }
    expect(services['worker']!['environment']).toMatchObject({
      DATABASE_URL: expect.stringMatching(/^\$\{DATABASE_URL:-postgres:/),
      TEMPORAL_ADDRESS: '${TEMPORAL_ADDRESS:-temporal:7233}',
    });
    const scales = Object.entries(services).map(([name, { scale }]) => [name, scale]);
    const ofTemporal = '${TEMPORAL_CONTAINERS:-1}';
    expect(Object.fromEntries(scales.filter(([, scale]) => scale !== undefined))).toEqual({
      postgres: '${POSTGRES_CONTAINERS:-1}',
      'temporal-schema': ofTemporal,
      temporal: ofTemporal,
      'temporal-namespace': ofTemporal,
      'temporal-ui': ofTemporal,
    });
  });

  test('reads only variables that .env.example lists', () => {
    const listed = new Set(settings.map((setting) => setting.name));
    expect([...interpolated].filter((name) => !listed.has(name))).toEqual([]);
  });

  test('uses every variable that .env.example lists for it alone', () => {
    const names = foreign('Read by docker-compose.yml only');
    expect(names.filter((name) => !interpolated.has(name))).toEqual([]);
  });

  test('contains no secret and publishes only on loopback by default', () => {
    const secrets = /^\s+[A-Z_]*(?:PASSWORD|PWD|_KEY|SECRET)[A-Z_]*: *(.+)$/gm;
    const literal = [...compose.matchAll(secrets)].filter(([, value]) => !value!.startsWith('${'));
    expect(literal.map(([line]) => line)).toEqual([]);
    const published = [...compose.matchAll(/^\s+- '(\S+:\d+)'$/gm)].map((match) => match[1]!);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((p) => !p.startsWith('${PUBLISH_ADDRESS:-127.0.0.1}:'))).toEqual([]);
  });
});

/** Names of the variables in the mapping `key` itself (top level), or in `environment:` of the service `key`. */
function environmentBlocks(compose: string, key: string): string[] {
  const lines = compose.split('\n');
  const indentOf = (line: string): number => line.length - line.trimStart().length;
  const opening = new RegExp(`^(?:  )?${key}:(?: &\\S+)?$`);
  const start = lines.findIndex((line) => opening.test(line));
  if (start < 0) throw new Error(`docker-compose.yml has no ${key}`);
  const block: string[] = [];
  for (const line of lines.slice(start + 1)) {
    if (line.trim() !== '' && indentOf(line) <= indentOf(lines[start]!)) break;
    block.push(line);
  }
  return block.flatMap((line) => {
    const name = /^\s+([A-Z][A-Z0-9_]*):/.exec(line)?.[1];
    return name === undefined ? [] : [name];
  });
}
