import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { type Service, startService } from '#test/support/served-api.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

// Tours wait up to twenty seconds for each line.
jest.setTimeout(120_000);

/** The shell lines of a document's tour, and the lines of its expected output, in order. */
function tour(path: string, name: string): { script: string; promised: string[] } {
  const block = new RegExp(
    `<!-- ${name}:begin -->\n\`\`\`sh\n([^]*?)\`\`\`\n<!-- ${name}:end -->`,
  ).exec(readFileSync(join(root, path), 'utf8'));
  if (block === null) throw new Error(`${path} has no ${name}`);
  const script = block[1]!;
  return { script, promised: [...script.matchAll(/^#=> (.*)$/gm)].map((match) => match[1]!) };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A reader waits a second before a command and can repeat it. Repeats it until it prints the documented line. */
function patient(script: string): string {
  const repeated = script.replace(
    /^sleep 1; (.*)\n#=> (.*)$/gm,
    (_whole, command: string, line: string) => `
for _ in $(seq 100); do
  printed=$({ ${command}; } 2>&1) || true
  [ "$printed" = ${quoted(line)} ] && break || sleep 0.2
done; echo "$printed"`,
  );
  expect(repeated).not.toContain('sleep 1;');
  return repeated;
}

async function printsWhatItPromises(
  path: string,
  name: string,
  apiUrl: string,
  env: Record<string, string> = {},
): Promise<void> {
  const { script, promised } = tour(path, name);
  expect(promised.length).toBeGreaterThanOrEqual(2);
  const { stdout, stderr } = await run('sh', ['-euc', patient(script)], {
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, API: apiUrl, ...env },
    cwd: await mkdtemp(join(tmpdir(), 'tour-')),
    timeout: 100_000,
  });
  expect(stderr).toBe('');
  const printed = stdout.split('\n');
  expect(printed.filter((line) => promised.includes(line))).toEqual(promised);
}

describe('tours', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  test('README.md prints its documented output', async () => {
    await printsWhatItPromises('README.md', 'tour', service.apiUrl);
  });

  test('docs/tour.md prints its documented output', async () => {
    await printsWhatItPromises('docs/tour.md', 'tour', service.apiUrl);
  });

  test('docs/agents.md prints its documented output', async () => {
    await printsWhatItPromises('docs/agents.md', 'agents', service.apiUrl);
  });

  test('docs/inbound-events.md prints its documented output', async () => {
    await printsWhatItPromises('docs/inbound-events.md', 'events', service.apiUrl);
  });

  test('docs/tour-events.md prints its documented output', async () => {
    await printsWhatItPromises('docs/tour-events.md', 'tour', service.apiUrl);
  });

  test('docs/waiting.md prints its documented output', async () => {
    await printsWhatItPromises('docs/waiting.md', 'waiting', service.apiUrl);
  });

  test('docs/waiting.md prints the documented output of callbacks', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/waiting.md', 'callbacks', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/waiting.md prints the documented output of event triggers', async () => {
    await printsWhatItPromises('docs/waiting.md', 'triggers', service.apiUrl);
  });

  test('docs/mcp.md prints its documented output', async () => {
    await printsWhatItPromises('docs/mcp.md', 'sign-in', service.apiUrl);
  });

  test('docs/mcp.md prints the documented output of the tools', async () => {
    await printsWhatItPromises('docs/mcp.md', 'tools', service.apiUrl);
  });

  test('docs/mcp.md prints the documented output of a question to the person of a client', async () => {
    await printsWhatItPromises('docs/mcp.md', 'elicitation', service.apiUrl);
  });

  test('docs/code.md prints its documented output', async () => {
    await printsWhatItPromises('docs/code.md', 'code', service.apiUrl);
  });

  test('docs/streams.md prints its documented output', async () => {
    await printsWhatItPromises('docs/streams.md', 'streams', service.apiUrl);
  });

  test('docs/approvals.md prints its documented output', async () => {
    await printsWhatItPromises('docs/approvals.md', 'approvals', service.apiUrl);
  });

  test('docs/approvals.md prints the documented output of links', async () => {
    await printsWhatItPromises('docs/approvals.md', 'links', service.apiUrl);
  });

  test('docs/retention-and-alerts.md prints its documented output', async () => {
    await printsWhatItPromises('docs/retention-and-alerts.md', 'alerts', service.apiUrl);
  });

  test('docs/graphs.md prints its documented output', async () => {
    await printsWhatItPromises('docs/graphs.md', 'maps', service.apiUrl);
  });

  test('docs/sub-workflows.md prints its documented output', async () => {
    await printsWhatItPromises('docs/sub-workflows.md', 'children', service.apiUrl);
  });

  test('docs/dry-run.md prints its documented output', async () => {
    await printsWhatItPromises('docs/dry-run.md', 'dry', service.apiUrl);
  });

  test('docs/run-again.md prints its documented output', async () => {
    await printsWhatItPromises('docs/run-again.md', 'again', service.apiUrl);
  });

  test('docs/node-tests.md prints its documented output', async () => {
    await printsWhatItPromises('docs/node-tests.md', 'node', service.apiUrl);
  });

  test('docs/rehearsals.md prints its documented output', async () => {
    await printsWhatItPromises('docs/rehearsals.md', 'rehearsals', service.apiUrl);
  });

  test('docs/backtest.md prints its documented output', async () => {
    await printsWhatItPromises('docs/backtest.md', 'backtest', service.apiUrl);
  });

  test('docs/experiments.md prints its documented output', async () => {
    await printsWhatItPromises('docs/experiments.md', 'experiments', service.apiUrl);
  });

  test('docs/typed-input.md prints its documented output', async () => {
    await printsWhatItPromises('docs/typed-input.md', 'input', service.apiUrl);
  });

  test('docs/drafts.md prints its documented output', async () => {
    await printsWhatItPromises('docs/drafts.md', 'drafts', service.apiUrl);
  });

  test('docs/tour-people.md prints its documented output', async () => {
    const required = await startService({
      AUTH_MODE: 'required',
      OWNER_PASSWORD: 'open sesame, please',
    });
    try {
      await printsWhatItPromises('docs/tour-people.md', 'people', required.apiUrl);
    } finally {
      await required.close();
    }
  });

  test('docs/tour-data.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/tour-data.md', 'data', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/webhooks-out.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/webhooks-out.md', 'webhooks', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/webhooks-out.md prints the documented output of the chat', async () => {
    const [port, chat] = await freePorts(2);
    await printsWhatItPromises('docs/webhooks-out.md', 'webhooks-chat', service.apiUrl, {
      RECEIVER_PORT: String(port),
      CHAT_PORT: String(chat),
    });
  });

  test('docs/secrets.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/secrets.md', 'secrets', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/api-documents.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/api-documents.md', 'api-documents', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/mcp-servers.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/mcp-servers.md', 'mcp-servers', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/connections.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    await printsWhatItPromises('docs/connections.md', 'connections', service.apiUrl, {
      RECEIVER_PORT: String(port),
    });
  });

  test('docs/slack.md prints its documented output', async () => {
    const [port] = await freePorts(1);
    const withSlack = await startService({ SLACK_API_URL: `http://127.0.0.1:${port}/api` });
    try {
      await printsWhatItPromises('docs/slack.md', 'slack', withSlack.apiUrl, {
        SLACK_PORT: String(port),
      });
    } finally {
      await withSlack.close();
    }
  });

  test('`npm run demo` succeeds and cleans up', async () => {
    const script = join(root, 'scripts/demo.ts');
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const { stdout } = await run(process.execPath, [script, '--api', `${service.apiUrl}/`], {
      env,
    });
    expect(stdout).toContain('Everything was as it should be');
    expect(stdout).toContain('"type":"run_paused"');
    const left = (await (await fetch(`${service.apiUrl}/api/workflows`)).json()) as {
      name: string;
    }[];
    expect(left.filter(({ name }) => name.startsWith('Demo'))).toEqual([]);
  });

  test('`npm run demo` exits with code 1 without a service', async () => {
    const script = join(root, 'scripts/demo.ts');
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const ending = run(process.execPath, [script, '--api', 'http://127.0.0.1:1'], { env });
    await expect(ending).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) });
  });
});
