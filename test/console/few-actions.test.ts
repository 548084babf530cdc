import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { describeConsole, personOf, rewrite } from './browser.ts';

const MOST_ACTIONS = 35;

/** Acts as a member does, and counts: a click, a key chord or a field that is filled in is one action. */
class Counted {
  count = 0;
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.count += 1;
    await target.click();
  }

  async fill(field: Locator, text: string): Promise<void> {
    this.count += 1;
    await field.fill(text);
  }

  /** A field for a text or an expression. */
  async write(field: Locator, text: string): Promise<void> {
    this.count += 1;
    await rewrite(field, text);
  }

  async select(field: Locator, value: string): Promise<void> {
    this.count += 1;
    await field.selectOption(value);
  }

  /** After the selected node, to which it is connected. */
  async add(kind: string): Promise<void> {
    await this.click(this.page.getByRole('button', { name: 'Add node' }));
    const palette = this.page.getByRole('dialog', { name: 'Add a node' });
    await this.click(palette.getByRole('option', { name: new RegExp(`^${kind}`) }));
    await palette.waitFor({ state: 'detached' });
  }
}

describeConsole('a workflow from an empty canvas', (stage) => {
  test(`takes at most ${MOST_ACTIONS} actions and no JSON, with approvals, a map and an error edge`, async () => {
    await personOf(stage(), { name: 'Second', role: 'admin' });
    const { body } = await stage().call('POST', '/api/workflows', { name: 'Built' });
    const { page, context, problems } = await stage().open(`/workflows/${body.id}/edit`);
    const member = new Counted(page);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const textbox = (name: string) => page.getByRole('textbox', { name, exact: true });
    const card = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
    const check = page.getByRole('tab', { name: /^Check/ });

    await member.add('Agent');
    await member.fill(page.getByRole('combobox', { name: 'Model', exact: true }), 'mock');
    await member.click(button('Tools'));
    await member.fill(page.getByRole('combobox', { name: 'Add tool' }), 'email');
    await member.click(page.getByRole('option', { name: /^send_email/ }));

    await member.add('Map');
    await member.write(textbox('Items'), 'lines');
    await member.click(check);
    await member.click(button('Add a body node'));
    await member.click(card('map_1'));
    await member.add('Condition');
    await member.write(textbox('Expression'), 'len(map_1) > 1');

    await member.add('Human gate');
    await member.write(textbox('Prompt'), 'Pay {map_1}?');
    await member.click(
      page.getByRole('group', { name: 'Form' }).getByRole('button', { name: 'Add field' }),
    );
    await member.fill(page.getByLabel('Name of field 1'), 'cost_center');
    await member.click(button('Approvers'));
    await member.fill(page.getByLabel('Required approvals'), '2');

    await member.add('Merge');
    await member.click(check);
    await member.click(page.getByRole('button', { name: /^Add the missing “No” edge to merge_1/ }));
    // The card is no longer in view.
    await member.click(page.getByRole('tab', { name: 'Selection' }));
    await member.select(page.getByRole('combobox', { name: 'Node', exact: true }), 'agent_1');
    await member.select(page.getByLabel('Connect to'), 'merge_1');
    await member.select(page.getByLabel('Branch', { exact: true }), 'error');
    await member.click(button('Connect'));
    await member.click(check);
    await page.getByText('No problems. Ready to run.').waitFor();
    expect(member.count).toBeLessThanOrEqual(MOST_ACTIONS);

    await button('Save').click();
    await page.getByText('Draft saved').waitFor();
    const { graph } = (await stage().call('GET', `/api/workflows/${body.id}/draft`)).body;
    expect(graph.nodes).toMatchObject([
      { id: 'agent_1', tools: [{ name: 'send_email', approval: 'always' }] },
      { id: 'map_1', items: 'lines' },
      { id: 'tool_1', kind: 'tool' },
      { id: 'condition_1' },
      {
        ...{ id: 'gate_1', required: 2 },
        input_schema: { type: 'object', properties: { cost_center: { type: 'string' } } },
      },
      { id: 'merge_1' },
    ]);
    const edges = graph.edges.map(
      ({ source, target, condition_value: when }: Record<string, string>) =>
        [source, target, when].filter(Boolean).join(' '),
    );
    expect(edges.toSorted()).toEqual([
      'agent_1 map_1',
      'agent_1 merge_1 error',
      'condition_1 gate_1 true',
      'condition_1 merge_1 false',
      'gate_1 merge_1 true',
      'map_1 condition_1 false',
      'map_1 tool_1 true',
      'tool_1 map_1',
    ]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
