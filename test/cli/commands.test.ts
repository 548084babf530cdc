import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { createProgram } from '#cli/program.ts';
import { leavesOf } from './commands-that-call.ts';
import { createOps, type Ended, type Ops } from './ops.ts';
import { operationAt, type Recorded, startRecordedService } from './recorded-service.ts';

interface Row {
  args: string[];
  stdin: string;
  requests: (Recorded & { body?: unknown })[];
  prints: string[];
  fails: string[];
  code: number;
}

/** `a 'b c'` */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));

/** `POST /api/x if-match "abc" {a: 1}`: the last part is the body. */
function requestOf(text: string): Recorded & { body?: unknown } {
  const [, line = '', body] = /^(\S+ .*?(?: if-match "\w+")?)(?: ([{[].*))?$/.exec(text) ?? [];
  return { line, ...(body !== undefined && { body: parse(body) }) };
}

/** `404 {detail: a}` */
function answerOf(text: string): Pick<Recorded, 'status' | 'parts'> {
  const [, status, parts = ''] = /^(?:(\d{3}) )?(.*)$/.exec(text) ?? [];
  return { parts: parse(parts), ...(status !== undefined && { status: Number(status) }) };
}

/** Objects are written in short, as the bodies are. */
const inputOf = (lines: string[]): string =>
  lines.length === 1 && lines[0]!.startsWith('{')
    ? JSON.stringify(parse(lines[0]!))
    : lines.join('\n');

function rowOf(text: string): Row {
  const [first = '', ...parts] = text.trim().split(/\n? {2,}(?=stdin:|[><=!] |exit:)/);
  const having = (start: string): string[] =>
    parts.filter((part) => part.startsWith(start)).map((part) => part.slice(start.length).trim());
  const requests: Row['requests'] = [];
  for (const part of parts) {
    if (part.startsWith('>')) requests.push(requestOf(part.slice(2)));
    if (part.startsWith('<')) Object.assign(requests.at(-1)!, answerOf(part.slice(2)));
  }
  return {
    args: wordsOf(first),
    stdin: inputOf(having('stdin:')),
    requests,
    prints: having('=').map((line) => line.replaceAll('\\uFEFF', '\uFEFF')),
    fails: having('!'),
    code: Number(having('exit:')[0] ?? 0),
  };
}

const rows = readFileSync(join(import.meta.dirname, 'commands.txt'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/sha256:(\d)/g, (_all, digit: string) => `sha256:${digit.repeat(64)}`)
  .split(/^\$ /m)
  .slice(1)
  .map(rowOf);

const titled = (given: Row[]): [string, Row][] => given.map((row) => [row.args.join(' '), row]);

const leaves = new Map(leavesOf(createProgram()));

const nameOf = ({ args }: Row): string =>
  [3, 2, 1]
    .map((length) => args.slice(0, length).join(' '))
    .flatMap((name) => [name, `${name} list`])
    .find((name) => leaves.has(name)) ?? '';

let service: Awaited<ReturnType<typeof startRecordedService>>;
let ops: Ops;
let folder: string;
beforeAll(async () => {
  service = await startRecordedService();
  ops = await createOps({ OPS_API_URL: service.url, OPS_API_KEY: 'ops_key' });
  folder = join(ops.configFolder, 'files');
  await mkdir(folder);
});
afterAll(() => service.close());

const placed = (text: string): string =>
  text.replaceAll('{url}', service.url).replaceAll('{folder}', folder);

const call = ({ args, stdin, requests }: Row, ...more: string[]): Promise<Ended> => {
  service.begin(requests);
  return ops([...args.map(placed), ...more], { input: stdin });
};

/** Times of about a week ago, which commands compute from `7d`. */
const relative = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value).replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, (time) =>
      Math.abs(Date.now() - Date.parse(time) - 7 * 86_400_000) < 60_000 ? '7d ago' : time,
    ),
  );

const single = (text: string): string => text.replaceAll(/[ \n\r]+/g, ' ');

test.each(titled(rows))('ops %s', async (_title, row) => {
  const { code, stdout, stderr } = await call(row);
  const sent = service.requests.map(({ line, body }) => ({ line, body }));
  expect({ problems: service.problems, sent: relative(sent), code }).toEqual({
    problems: [],
    sent: row.requests.map(({ line, body }) => ({ line, body })),
    code: row.code,
  });
  for (const text of row.prints) expect(single(stdout)).toContain(placed(text));
  for (const text of row.fails) expect(single(stderr)).toContain(text);
  if (row.fails.length === 0) expect(stderr).toBe('');
  if (/^(login|secrets)/.test(nameOf(row)) && row.stdin !== '') {
    expect(stdout).not.toContain(row.stdin);
  }
});

/** They print other formats. */
const formatted =
  /^(run(s )?|rerun |fork )(.*--)?watch |^runs export|^evidence|^completion|^__complete|--csv/;

test.each(
  titled(rows.filter(({ args, code }) => code === 0 && !formatted.test(`${args.join(' ')} `))),
)('ops %s --json prints JSON or nothing', async (_title, row) => {
  const { stdout } = await call(row, '--json');
  if (stdout !== '') expect(JSON.parse(stdout)).toEqual(expect.any(Object));
});

test('an idempotency key is sent as it is given', async () => {
  const given = rows.filter(({ args }) => args.includes('--idempotency-key'));
  expect(given).toHaveLength(16);
  for (const row of given) {
    await call(row);
    expect(service.requests[0]?.seen.headers).toMatchObject({
      'idempotency-key': 'once',
      'x-api-key': 'ops_key',
    });
  }
});

test('lines are sent to a feed in batches', async () => {
  service.begin([]);
  const input = Array.from({ length: 1_200 }, (_, n) => JSON.stringify({ n })).join('\n');
  const { code, stderr } = await ops(['data', 'ingest', '--feed', 'feed_1'], { input });
  expect([code, stderr.match(/\d+(?= lines)/g)]).toEqual([0, ['501', '1001', '1200']]);
  const sizes = service.requests.map(({ body }) => (body as { records: [] }).records.length);
  expect(sizes).toEqual([500, 500, 200]);
});

describe('the lists of commands in these tests', () => {
  const used = (row: Row): string[] => row.args.filter((word) => word.startsWith('-'));
  const of = (name: string): Row[] => rows.filter((row) => nameOf(row) === name);

  test('contain every command with every option', () => {
    const missing = [...leaves].flatMap(([name, { options }]) => {
      const given = of(name).flatMap(used);
      return [
        ...(of(name).length === 0 ? [name] : []),
        ...options
          .filter(({ long }) => !given.includes(long ?? ''))
          .map(({ long }) => `${name} ${long}`),
      ];
    });
    expect(missing).toEqual([]);
    const globals = createProgram().options.map(({ long }) => long);
    expect(globals.filter((long) => !rows.flatMap(used).includes(long ?? ''))).toEqual(['--json']);
  });

  test('include --if-match for each command that changes a record, whose group prints the tag', () => {
    const takesTag = (line: string): boolean => {
      const [method = '', path = ''] = line.split(/[ ?]/);
      const { parameters = [] } = operationAt(method, path) ?? {};
      return parameters.some((each) => each.in === 'header' && each.name === 'if-match');
    };
    const changing = rows.filter(({ requests }) => requests.some(({ line }) => takesTag(line)));
    const withOption = [...leaves]
      .filter(([, { options }]) => options.some(({ long }) => long === '--if-match'))
      .map(([name]) => name);
    // Files are compared with what the command has read, and written with its tag.
    const compared = ['apply', 'workflows apply'];
    expect([...new Set(changing.map(nameOf))].sort()).toEqual([...withOption, ...compared].sort());
    for (const name of withOption) {
      const tagged = of(name).some(({ requests }) =>
        requests.at(-1)!.line.endsWith('if-match "abc"'),
      );
      const show = ['show', 'get'].flatMap((verb) => of(name.replace(/\w+$/, verb)));
      const printed = show.some(({ prints }) => prints.includes('etag abc'));
      expect({ name, tagged, printed }).toEqual({ name, tagged: true, printed: true });
    }
  });
});
