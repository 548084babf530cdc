import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { chain, echo, edge, eventually } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, placeOf, type Visit } from './browser.ts';

describeConsole('the canvas of the editor', (stage) => {
  const made = async (name: string, graph: unknown): Promise<string> =>
    (await stage().call('POST', '/api/workflows', { name, graph })).body.id;
  const savedEdges = async (page: Page, id: string) => {
    await page.keyboard.press('Control+s');
    await page.getByText('Draft saved').waitFor();
    return (await stage().call('GET', `/api/workflows/${id}/draft`)).body.graph.edges;
  };
  const settled = async ({ page, problems, context }: Visit): Promise<void> => {
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  };

  test('names the ports of a card, and adds a node to the one that was dragged or chosen', async () => {
    const id = await made('Ports', {
      nodes: [
        { id: 'big', kind: 'condition', expression: 'total > 3', position: { x: 0, y: 0 } },
        { ...echo('yes'), position: { x: 400, y: 0 } },
      ],
      edges: [edge('big', 'yes', 'true')],
    });
    const visit = await stage().open(`/workflows/${id}/edit`);
    const { page } = visit;
    await card(page, 'big').getByText('total > 3').waitFor();
    await card(page, 'big').getByText('Yes', { exact: true }).waitFor();
    await card(page, 'big').getByText('No', { exact: true }).waitFor();
    const drawing = page.getByRole('region', { name: 'Graph editor' });
    expect(await drawing.innerText()).not.toMatch(/\b(true|false)\b/);

    // Dropped on empty space, the palette opens there and says where the node goes.
    const port = await placeOf(page.getByRole('button', { name: 'No of big: add a node' }));
    const frame = await placeOf(drawing);
    const drop = { x: frame.x + 300, y: frame.y + 380 };
    await page.mouse.move(port.x + port.width / 2, port.y + port.height / 2);
    await page.mouse.down();
    await page.mouse.move(drop.x, drop.y, { steps: 8 });
    await page.mouse.up();
    const palette = page.getByRole('dialog', { name: 'Add a node' });
    const about = palette.getByText('Connects after big');
    await about.waitFor();
    const box = await placeOf(palette);
    expect(Math.abs(box.x - drop.x)).toBeLessThan(40);
    expect(box.y).toBeLessThan(drop.y);
    expect(box.y + box.height).toBeGreaterThan(drop.y);
    expect(await about.evaluate((text: any) => text.scrollHeight <= text.clientHeight)).toBe(true);
    expect(await palette.getByLabel('From').inputValue()).toBe('false');
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.type('merge');
    await page.keyboard.press('Enter');
    await card(page, 'merge_1').waitFor();

    // By keyboard, from the menu of a card, or in the palette.
    await card(page, 'yes').click();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Add node: On error' }).press('Enter');
    await palette.getByText('Connects after yes').waitFor();
    await page.keyboard.type('human');
    await page.keyboard.press('Enter');
    await card(page, 'gate_1').waitFor();
    await page.keyboard.press('/');
    await palette.getByLabel('From').selectOption('Rejected');
    await palette.getByRole('combobox', { name: 'Node to add' }).fill('workflow');
    await page.keyboard.press('Enter');
    await card(page, 'workflow_1').waitFor();
    expect(await savedEdges(page, id)).toEqual([
      edge('big', 'yes', 'true'),
      edge('big', 'merge_1', 'false'),
      edge('yes', 'gate_1', 'error'),
      edge('gate_1', 'workflow_1', 'false'),
    ]);
    await settled(visit);
  });

  test('says on each card what its node does, and cuts long texts with a title', async () => {
    const name = 'Fetch the order with all its lines and the customer who placed it last week';
    const id = await made('Speaking', {
      nodes: [
        { id: 'ask', kind: 'agent', tools: [{ name: 'send_email', approval: 'always' }] },
        {
          ...{ id: 'fetch', label: name, kind: 'tool', tool_name: 'http_request' },
          params: { url: 'https://shop.example/orders' },
        },
        { id: 'each', kind: 'map', items: 'lines' },
        echo('price', 'each.item'),
      ],
      edges: [
        edge('ask', 'fetch'),
        edge('fetch', 'each'),
        edge('each', 'price', 'true'),
        edge('price', 'each'),
      ],
    });
    const visit = await stage().open(`/workflows/${id}/edit`, {
      scheme: 'dark',
      // Wide enough to see all of it without zooming out.
      width: 1700,
    });
    const { page } = visit;
    await card(page, 'ask').getByText('mock · send_email').waitFor();
    await card(page, 'ask').getByText('asks before send_email').waitFor();
    await card(page, 'fetch').getByText('http_request · GET shop.example').waitFor();
    await card(page, 'fetch').getByTitle(name, { exact: true }).waitFor();
    await card(page, 'each').getByText('each item of lines').waitFor();
    for (const port of ['Each item', 'Done']) {
      await card(page, 'each').getByText(port, { exact: true }).waitFor();
    }
    await page.getByText('Next item').waitFor();
    const node = page.getByLabel('ask, Agent, mock · send_email, asks before send_email');
    expect(await node.getAttribute('data-id')).toBe('ask');
    await settled(visit);
  });

  test('opens empty with a first step, and keeps its toolbar in place', async () => {
    const { body } = await stage().call('POST', '/api/workflows', { name: 'Empty' });
    const visit = await stage().open(`/workflows/${body.id}/edit`);
    const { page } = visit;
    await page.getByText('No draft yet · Live: version 1 (empty)').waitFor();
    const toolbar = page.getByRole('toolbar', { name: 'Editing' });
    const buttons = async () => {
      const all = await toolbar.getByRole('button').all();
      return Promise.all(all.map(async (button) => (await placeOf(button)).x));
    };
    const before = await buttons();
    await page.getByRole('button', { name: 'Add the first node' }).click();
    await page.keyboard.type('merge');
    await page.keyboard.press('Enter');
    await card(page, 'merge_1').waitFor();
    await page.getByText('Unsaved changes').waitFor();
    await page.getByText('Editing a new draft · Live: version 1 (empty)').waitFor();
    expect(await page.getByRole('button', { name: 'Add the first node' }).count()).toBe(0);
    expect(await buttons()).toEqual(before);
    await toolbar.getByRole('button', { name: 'Undo' }).hover();
    await page.getByText('Undo · Ctrl Z').waitFor();
    await settled(visit);
  });

  test('shows every node after nodes were added or arranged', async () => {
    const nodes = Array.from({ length: 4 }, (_, at) => echo(`n${at}`));
    const edges = nodes.slice(1).map(({ id }, at) => edge(`n${at}`, id));
    const visit = await stage().open(`/workflows/${await made('Growing', { nodes, edges })}/edit`);
    const { page } = visit;
    await card(page, 'n3').click();
    for (const id of ['merge_1', 'merge_2']) {
      await page.keyboard.press('/');
      await page.keyboard.type('merge');
      await page.keyboard.press('Enter');
      await card(page, id).waitFor();
    }
    await eventually(() => isInView(page, 'merge_2'));

    // Zoomed in, most of them are out of view.
    for (let press = 0; press < 3; press += 1) {
      await page.getByRole('button', { name: 'Zoom In' }).click();
    }
    await eventually(async () => !(await isInView(page, 'n0')));
    await page.getByRole('button', { name: 'Arrange' }).click();
    for (const id of ['n0', 'n3', 'merge_2']) await eventually(() => isInView(page, id));
    await settled(visit);
  });

  test('draws no edge through the label of what a map repeats', async () => {
    const nodes = [{ id: 'each', kind: 'map', items: 'list' }, echo('a'), echo('b'), echo('sum')];
    const edges = [
      edge('each', 'a', 'true'),
      edge('a', 'b'),
      edge('b', 'each'),
      edge('a', 'each', 'error'),
      edge('each', 'sum', 'false'),
    ];
    const visit = await stage().open(`/workflows/${await made('Labels', { nodes, edges })}/edit`);
    const { page } = visit;
    await card(page, 'sum').waitFor();
    const label = await placeOf(page.getByText('For each item of each'));
    const points = await page.locator('.react-flow__edge-path').evaluateAll((paths) =>
      paths.flatMap((path: any) => {
        const onScreen = path.getScreenCTM();
        const length = path.getTotalLength();
        return Array.from({ length: Math.ceil(length / 3) }, (_, at) => {
          const { x, y } = path.getPointAtLength(at * 3).matrixTransform(onScreen);
          return { x, y };
        });
      }),
    );
    expect(points.length).toBeGreaterThan(100);
    const through = points.filter(
      ({ x, y }: { x: number; y: number }) =>
        x > label.x && x < label.x + label.width && y > label.y && y < label.y + label.height,
    );
    expect(through).toEqual([]);
    await settled(visit);
  });

  test('tests a node from its card, its menu and by a key, with the panel at the result', async () => {
    const { engine } = stage();
    const graph = {
      nodes: [echo('read', '1'), echo('sum', 'read + 41')],
      edges: [edge('read', 'sum')],
    };
    const workflowId = await engine.define(graph, 'Tested');
    await engine.until(await engine.trigger(workflowId, {}), ['success']);
    const visit = await stage().open(`/workflows/${workflowId}/edit`);
    const { page } = visit;
    const result = page.getByRole('region', { name: 'Result of the test' });
    await card(page, 'sum').hover();
    await page.getByRole('button', { name: 'Test sum' }).click();
    await result.getByText('"read + 41"').waitFor();
    await result.getByText('42', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);

    await card(page, 'read').click({ button: 'right' });
    await page.getByRole('menuitem', { name: /^Test this node/ }).click();
    await result.getByText('"1"').waitFor();
    await card(page, 'sum').click();
    await page.keyboard.press('t');
    await result.getByText('"read + 41"').waitFor();
    await settled(visit);
  });

  test('tests a node from its card as soon as its run and the pins are read', async () => {
    const { engine, open } = stage();
    const workflowId = await engine.define(chain(echo('read', '40 + 2')), 'Tested at once');
    await engine.until(await engine.trigger(workflowId, {}), ['success']);
    const visit = await open('/workflows');
    const { page } = visit;
    const read = Promise.withResolvers<undefined>();
    await page.route(/\/api\/(workflows\/[^/]+\/(runs|pins)|runs\/)/, async (route) => {
      await read.promise;
      await route.continue();
    });
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.goto(`${stage().url}/workflows/${workflowId}/edit`);
    await card(page, 'read').hover();
    await page.getByRole('button', { name: 'Test read' }).click();
    await page.getByRole('tab', { name: 'Output', exact: true, selected: true }).waitFor();
    expect(sent.filter((url) => url.endsWith('/test'))).toEqual([]);
    read.resolve(undefined);
    const result = page.getByRole('region', { name: 'Result of the test' });
    await result.getByText('42', { exact: true }).waitFor();
    expect(sent.filter((url) => url.endsWith('/test'))).toHaveLength(1);
    await settled(visit);
  });

  test('has a map above 20 nodes, and finds a node by its id, label or tool', async () => {
    const nodes = [
      ...Array.from({ length: 23 }, (_, at) => echo(`n${at}`)),
      {
        ...{ id: 'pay', label: 'Pay the bill', kind: 'tool', tool_name: 'http_request' },
        params: { url: 'https://bank.example/pay' },
      },
    ];
    const edges = nodes.slice(1).map(({ id }, at) => edge(`n${at}`, id));
    const visit = await stage().open(`/workflows/${await made('Long', { nodes, edges })}/edit`);
    const { page } = visit;
    await page.locator('.react-flow__minimap').waitFor();
    expect(await isInView(page, 'pay')).toBe(false);
    await page.keyboard.press('Control+f');
    const search = page.getByRole('combobox', { name: 'Find a node' });
    await search.fill('BANK.example');
    await page.getByRole('option', { name: /^Pay the bill http_request/ }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await eventually(() => isInView(page, 'pay'));
    await page.getByRole('heading', { name: 'Tool', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Find node' }).click();
    await search.fill('n2');
    await page.getByRole('option', { name: /^n22 json_transform/ }).click();
    await eventually(() => isInView(page, 'n22'));
    expect(await search.count()).toBe(0);
    await settled(visit);
  });
});

/** Whether a card is completely within the drawing. */
async function isInView(page: Page, id: string): Promise<boolean> {
  const frame = await placeOf(page.getByRole('region', { name: 'Graph editor' }));
  // A card out of view may not be rendered.
  if ((await card(page, id).count()) === 0) return false;
  const { x, y, width, height } = await placeOf(card(page, id));
  return (
    x >= frame.x &&
    y >= frame.y &&
    x + width <= frame.x + frame.width &&
    y + height <= frame.y + frame.height
  );
}

const card = (page: Page, id: string): Locator =>
  page.locator(`.react-flow__node[data-id="${id}"]`);
