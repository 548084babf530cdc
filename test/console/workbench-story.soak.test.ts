import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { RECORD_FRAMES } from '#bench/measures/console/browser.ts';
import { PASSWORD } from '#test/support/people.ts';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

/** The most clicks and key chords from an empty graph to a finished run; a typed text is one. */
const MOST_ACTIONS = 20;
/** More than the elements of the page that take the focus: Tab comes round. */
const MOST_TABS = 120;

/** Counts what a person does. */
function counted(page: Page) {
  let actions = 0;
  const count = async (act: Promise<unknown>): Promise<void> => {
    actions += 1;
    await act;
  };
  return {
    actions: () => actions,
    click: async (name: string, role: 'button' | 'option' = 'button') =>
      count(page.getByRole(role, { name, exact: true }).click()),
    press: async (key: string) => count(page.keyboard.press(key)),
    type: async (text: string) => count(page.keyboard.type(text)),
  };
}

const focusedCard = async (page: Page, id: string): Promise<unknown> =>
  page.waitForFunction((wanted) => document.activeElement?.getAttribute('data-id') === wanted, id);

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  const hasFocus = (element: Element) => element === document.activeElement;
  for (let presses = 0; presses < MOST_TABS; presses += 1) {
    if (await target.evaluate(hasFocus)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(target)} is not reached with ${MOST_TABS} presses of Tab`);
}

describeConsole('building a first workflow in the editor', (stage) => {
  const blank = async (name: string): Promise<string> =>
    (await stage().call('POST', '/api/workflows', { name, graph: { nodes: [], edges: [] } })).body
      .id;
  const edit = async (id: string) => stage().open(`/workflows/${id}/edit`);
  test('takes at most 20 clicks for five nodes and a run', async () => {
    const visit = await edit(await blank('By clicks'));
    const { page } = visit;
    const by = counted(page);
    for (const [option, id] of [
      ['Agent', 'agent_1'],
      ['Condition', 'condition_1'],
      ['Tool', 'tool_1'],
      ['Tool', 'tool_2'],
      ['Merge', 'merge_1'],
    ] as const) {
      await by.click('Add node');
      await page
        .getByRole('option', { name: new RegExp(`^${option}`) })
        .first()
        .waitFor();
      await by.type(option);
      await by.press('Enter');
      await focusedCard(page, id);
    }
    await by.click('Run');
    const dialog = page.getByRole('dialog', { name: 'Run this draft' });
    await dialog.waitFor();
    await by.press('Control+Enter');
    await page.getByRole('status', { name: 'Run' }).getByText('Success').waitFor();
    expect(by.actions()).toBeLessThanOrEqual(MOST_ACTIONS);
    expect(await obstacles(page)).toEqual([]);
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });

  test('is possible with the keyboard alone', async () => {
    const visit = await edit(await blank('By keys'));
    const { page } = visit;
    const by = counted(page);
    await page.getByRole('button', { name: 'Add node' }).waitFor();
    for (const [typed, id] of [
      ['agent', 'agent_1'],
      ['cond', 'condition_1'],
      ['merge', 'merge_1'],
      ['merge', 'merge_2'],
    ] as const) {
      await by.press('/');
      await page.getByRole('combobox', { name: 'Node to add' }).waitFor();
      await by.type(typed);
      await by.press('Enter');
      await focusedCard(page, id);
    }
    await by.press('Control+d');
    await page.locator('.react-flow__node[data-id="merge_3"]').waitFor();
    await by.press('Control+Enter');
    await page.getByRole('dialog', { name: 'Run this draft' }).waitFor();
    await by.press('Control+Enter');
    await page.getByRole('status', { name: 'Run' }).getByText('Success').waitFor();
    expect(await page.locator('.react-flow__node').count()).toBe(5);
    expect(by.actions()).toBeLessThanOrEqual(MOST_ACTIONS);
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });

  test('a change is published with the keyboard alone', async () => {
    const graph = { nodes: [{ id: 'write', kind: 'agent', prompt: 'Write' }], edges: [] };
    const { body } = await stage().call('POST', '/api/workflows', { name: 'By Tab', graph });
    const visit = await edit(body.id);
    const { page } = visit;
    await page.locator('.react-flow__node[data-id="write"]').waitFor();
    await tabTo(page, page.locator('.react-flow__node[data-id="write"]'));
    await page.keyboard.press('Enter');
    const label = page.getByLabel('Label');
    await label.waitFor();
    await tabTo(page, label);
    await page.keyboard.type('Write a letter');
    await page.keyboard.press('Control+s');
    await page.getByText('Draft saved').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Publish', exact: true }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Publish this draft?' });
    await dialog.waitFor();
    await tabTo(page, dialog.getByRole('button', { name: 'Publish draft' }));
    await page.keyboard.press('Enter');
    await page.getByText('Version 2 published').waitFor();
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });

  /** Types into a node of a graph of this size. Returns the median time of a frame during that time, in ms. */
  const frameWhileTyping = async (size: number): Promise<number> => {
    const nodes = Array.from({ length: size }, (_, at) => ({
      ...{ id: `n${at}`, kind: 'agent', prompt: 'Write' },
      position: { x: (at % 40) * 272, y: Math.floor(at / 40) * 112 },
    }));
    const edges = nodes.slice(1).map(({ id }, at) => ({ source: `n${at}`, target: id }));
    const { body } = await stage().call('POST', '/api/workflows', {
      name: `Graph of ${size}`,
      graph: { nodes, edges },
    });
    const visit = await edit(body.id);
    const { page } = visit;
    await page.locator('.react-flow__node[data-id="n0"]').click();
    const label = page.getByLabel('Label');
    await label.focus();
    await page.evaluate(RECORD_FRAMES);
    await page.keyboard.type('A name that someone types quickly', { delay: 60 });
    await page.locator('.react-flow__node[data-id="n0"]').getByText('quickly').waitFor();
    const frames = (await page.evaluate('window.frames')) as number[];
    await page.keyboard.press('Control+z');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(visit.problems).toEqual([]);
    await visit.context.close();
    return frames.toSorted((one, other) => one - other)[Math.floor(frames.length / 2)]!;
  };

  test('a graph of 1,000 nodes opens, and typing takes no longer than in a small one', async () => {
    const small = await frameWhileTyping(10);
    // On an idle machine half of the frames take 17 ms in both.
    expect(await frameWhileTyping(1_000)).toBeLessThan(10 * Math.max(small, 17));
  });
});

const OWNER = 'owner@example.com';

describeConsole(
  'unsaved changes in the editor',
  (stage) => {
    test('survive the end of a session, and are offered to the same member', async () => {
      const login = { email: OWNER, password: PASSWORD };
      const { token } = (await stage().call('POST', '/api/auth/login', login)).body;
      const workflow = { name: 'Kept', graph: { nodes: [], edges: [] } };
      const { id } = (await stage().call('POST', '/api/workflows', workflow, token)).body;
      const visit = await stage().open(`/workflows/${id}/edit`, { token });
      const { page } = visit;
      await page.getByRole('button', { name: 'Add node' }).click();
      await page.keyboard.type('agent');
      await page.keyboard.press('Enter');
      await focusedCard(page, 'agent_1');
      await page.getByLabel('Label').fill('Ask a model');
      const changed = 'another horse battery';
      const passwords = { current_password: PASSWORD, new_password: changed };
      await stage().call('POST', '/api/auth/password', passwords, token);
      await page.getByText('Your session has ended').waitFor();
      // The refused requests are the reason that the session ended.
      const refused = visit.problems.splice(0);
      expect(refused.filter((problem) => !problem.startsWith('401: '))).toEqual([]);
      await page.getByLabel('Email').fill(OWNER);
      await page.locator('input[type="password"]').fill(changed);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Restore changes' }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.getByRole('button', { name: 'Restore changes' }).click();
      await page.locator('.react-flow__node[data-id="agent_1"]').getByText('Ask a model').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Draft saved').waitFor();
      await page.reload();
      await page.locator('.react-flow__node[data-id="agent_1"]').waitFor();
      expect(await page.getByRole('button', { name: 'Restore changes' }).count()).toBe(0);
      expect(visit.problems).toEqual([]);
      await visit.context.close();
    });
  },
  { env: { AUTH_MODE: 'required', OWNER_EMAIL: OWNER, OWNER_PASSWORD: PASSWORD } },
);
