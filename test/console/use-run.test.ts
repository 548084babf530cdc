import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { describeConsole, type Stage } from './browser.ts';

const root = join(import.meta.dirname, '../..');

/** A page of another origin, as a customer would build it. Its server gives it tokens. */
const source = (api: string, runId: string): string => `
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import { useRun } from './client/react.ts';
const getToken = async () => (await fetch('/token')).text();
function Progress() {
  const { status, steps, error } = useRun(${JSON.stringify(runId)}, { baseUrl: ${JSON.stringify(api)}, getToken });
  const text = [status, ...steps.map((step) => step.key + ' ' + step.status), error?.message ?? ''].join(', ');
  return h('p', null, text);
}
createRoot(document.getElementById('root')).render(h(Progress));
`;

async function servePage(script: string, token: () => Promise<string>) {
  const server = createServer((request, response) => {
    if (request.url === '/token') {
      token().then(
        (text) => response.end(text),
        () => response.writeHead(500).end(),
      );
    } else if (request.url === '/page.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    } else {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><div id="root"></div><script src="/page.js"></script>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => server.close().closeAllConnections(),
  };
}

describeConsole('a page of others with useRun', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const pageFor = async (runId: string): Promise<string> => {
    const { outputFiles } = await build({
      stdin: { contents: source(stage.url, runId), resolveDir: root, loader: 'ts' },
      bundle: true,
      write: false,
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    return outputFiles[0]?.text ?? '';
  };

  test('shows a run until it has ended, and gets another token when the first has expired', async () => {
    const graph = { nodes: [{ id: 'gate', kind: 'human_gate', prompt: 'Go on?' }], edges: [] };
    const workflow = await stage.call('POST', '/api/workflows', { name: 'Followed', graph });
    expect(workflow.status).toBe(201);
    const run = await stage.call('POST', `/api/workflows/${workflow.body.id}/runs`, {
      ticket: 'x',
    });
    expect(run.status).toBe(201);
    let tokens = 0;
    const page = await servePage(await pageFor(run.body.id), async () => {
      tokens += 1;
      const body = { expires_in: tokens === 1 ? 1 : 300 };
      const answer = await stage.call('POST', `/api/runs/${run.body.id}/stream-token`, body);
      return answer.body.token;
    });
    const visit = await stage.open('/login');
    await visit.page.goto(page.url);
    await visit.page.getByText('paused, gate paused').waitFor();
    for (let looks = 0; tokens < 2 && looks < 200; looks += 1) await visit.page.waitForTimeout(50);
    expect(tokens).toBe(2);
    const approved = await stage.call('POST', `/api/runs/${run.body.id}/approve`, {});
    expect(approved.status).toBe(200);
    await visit.page.getByText(/^success, gate success/).waitFor();
    await visit.context.close();
    page.close();
  });

  test('shows why it cannot follow a run', async () => {
    const page = await servePage(await pageFor('run_unknown'), async () => 'nonsense');
    const visit = await stage.open('/login');
    await visit.page.goto(page.url);
    await visit.page.getByText('connecting, The stream token is invalid or expired').waitFor();
    await visit.context.close();
    page.close();
  });
});
