import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { echo, edge, mock } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite, type Stage } from './browser.ts';

const offers = (page: Page) => page.getByRole('listbox', { name: 'Completions' });

/** Chooses a node and waits for its form. */
async function choose(page: Page, id: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Node', exact: true }).selectOption(id);
  await page.getByLabel('ID', { exact: true }).waitFor();
}

/** Puts the cursor at the end of a code editor. */
async function toEnd(page: Page, label: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).focus();
  await page.keyboard.press('Control+End');
}

describeConsole('texts that know the state', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  /** A workflow with one finished run, open in the editor. */
  async function opened() {
    const graph = {
      nodes: [
        mock('classify', {
          output: { topic: 'billing', score: 0.9, secret_note: '<img src=x onerror=alert(1)>' },
        }),
        mock('answer', { output: 'Dear {customer.name}' }, { prompt: 'Write about ' }),
        { id: 'check', kind: 'condition', expression: 'true' } as const,
        echo('later', "'done'"),
      ],
      edges: [edge('classify', 'answer'), edge('answer', 'check'), edge('check', 'later', 'true')],
    };
    const workflowId = await stage.engine.define(graph, 'Answer letters');
    const input = { ticket: 'Where is my money?', customer: { name: 'Ada', visits: 3 } };
    const runId = await stage.engine.trigger(workflowId, input);
    await stage.engine.until(runId, ['success']);
    return { ...(await stage.open(`/workflows/${workflowId}/edit`)), workflowId, runId };
  }

  test('what an API document says of an output is completed without a run', async () => {
    const total = { type: 'object', properties: { total: { type: 'number' } } };
    const schema = { type: 'object', properties: { order: total } };
    const answers = { 200: { description: '', content: { 'application/json': { schema } } } };
    await stage.call('POST', '/api/tools/import', {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Shop', version: '1' },
        servers: [{ url: 'https://api.example.com' }],
        paths: { '/order': { get: { operationId: 'getOrder', responses: answers } } },
      },
    });
    const workflowId = await stage.engine.define({
      nodes: [
        { id: 'fetch', kind: 'tool', tool_name: 'custom:get_order', params: {} } as const,
        mock('answer', { output: 'Done' }, { prompt: 'Total: ' }),
      ],
      edges: [edge('fetch', 'answer')],
    });
    const { page } = await stage.open(`/workflows/${workflowId}/edit`);
    await choose(page, 'answer');
    await toEnd(page, 'Prompt');
    await page.keyboard.type('{fetch.order.');
    await offers(page)
      .getByRole('option', { name: /^total/ })
      .waitFor();
  });

  test('a key is completed by keyboard, with its value, and a misspelled one is underlined', async () => {
    const { page, context, problems } = await opened();
    await choose(page, 'answer');
    await page.getByRole('combobox', { name: 'Values from' }).waitFor();
    await toEnd(page, 'Prompt');
    await page.keyboard.type('{');
    const listed = offers(page);
    await listed.getByRole('option', { name: /^classify object/ }).waitFor();
    const names = await listed.getByRole('option').allInnerTexts();
    expect(names.some((text) => text.startsWith('customer.name'))).toBe(true);
    // What only later nodes set is not offered.
    expect(names.filter((text) => /^(later|check|answer)/.test(text))).toEqual([]);
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    expect(await prompt.getAttribute('aria-activedescendant')).not.toBeNull();
    expect(await obstacles(page)).toEqual([]);

    await page.keyboard.type('class');
    await listed.getByRole('option', { name: /^ticket/ }).waitFor({ state: 'detached' });
    await page.keyboard.type('ify.');
    await listed.getByRole('option', { name: /^topic text "billing"/ }).waitFor();
    await page.keyboard.type('to');
    await listed.getByRole('option', { name: /^score/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await listed.waitFor({ state: 'detached' });
    expect(await prompt.innerText()).toBe('Write about {classify.topic}');
    await page
      .getByRole('note', { name: 'Value of Prompt' })
      .getByText('Write about billing')
      .waitFor();

    // Without a list, Tab leaves the field.
    await page.keyboard.type(' {');
    await listed.waitFor();
    await page.keyboard.press('Escape');
    await listed.waitFor({ state: 'detached' });
    await page.keyboard.type('clasify}');
    await page
      .getByText(/did you mean ['“]classify/)
      .first()
      .waitFor();
    await page.locator('.cm-lintRange-warning', { hasText: 'clasify' }).waitFor();
    await page.getByText("No value: Missing key 'clasify'").waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await page.waitForFunction(
      () => document.activeElement?.closest('[data-field="prompt"]') == null,
    );
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('an expression offers functions, and shows its value or its error', async () => {
    const { page, context, problems } = await opened();
    await choose(page, 'check');
    const expression = page.getByRole('textbox', { name: 'Expression', exact: true });
    const value = page.getByRole('note', { name: 'Value of Expression' });
    await value.getByText('true', { exact: true }).waitFor();
    await expression.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.keyboard.type('ro');
    await offers(page)
      .getByRole('option', { name: /^round/ })
      .waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('classify.sc');
    await offers(page)
      .getByRole('option', { name: /^score number 0.9/ })
      .waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(') > 0');
    await value.getByText('true', { exact: true }).waitFor();
    await page.keyboard.type(' and');
    await value.getByText(/^No value: .* found end$/).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest(
    'the parameters of a tool are a form by its schema, and JSON of the same value',
    async () => {
      const { page, context, problems, workflowId } = await opened();
      const { graph } = (await stage.call('GET', `/api/workflows/${workflowId}`)).body;
      const params = {
        url: 'https://example.com/{ticket}',
        headers: { 'x-topic': '{classify.topic}' },
      };
      await stage.call('PUT', `/api/workflows/${workflowId}/draft`, {
        graph: {
          nodes: [...graph.nodes, { id: 'call', kind: 'tool', tool_name: 'http_request', params }],
          edges: [...graph.edges, edge('answer', 'call')],
        },
      });
      await page.reload();
      await choose(page, 'call');
      const form = page.getByRole('group', { name: 'Parameters' });
      const value = (of: string) => form.getByRole('note', { name: `Value of ${of}` });
      await value('url').getByText('https://example.com/Where is my money?').waitFor();
      await value('Value 1 of headers').getByText('billing', { exact: true }).waitFor();
      expect(await form.getByRole('textbox', { name: 'body' }).count()).toBe(0);
      await form.getByRole('combobox', { name: 'Add parameter' }).click();
      await page.getByRole('option', { name: 'method', exact: true }).click();
      await form.getByRole('textbox', { name: 'method' }).focus();
      await page.keyboard.type('PO');
      await offers(page).getByRole('option', { name: 'POST' }).waitFor();
      await page.keyboard.press('Enter');
      await form
        .getByRole('textbox', { name: 'method' })
        .getByText('POST', { exact: true })
        .waitFor();
      // A text without references is its own value.
      expect(await value('method').count()).toBe(0);
      // Mistakes are shown at their parameter.
      await toEnd(page, 'url');
      await page.keyboard.type('/{tikcet}');
      await form.locator('.cm-lintRange-warning', { hasText: 'tikcet' }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      for (let at = 0; at < '/{tikcet}'.length; at += 1) await page.keyboard.press('Backspace');

      await form.getByText('JSON', { exact: true }).click();
      const json = await form.getByRole('textbox', { name: 'Parameters' }).innerText();
      expect(JSON.parse(json)).toEqual({ ...params, method: 'POST' });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      const draft = (await stage.call('GET', `/api/workflows/${workflowId}/draft`)).body;
      expect(draft.graph.nodes.at(-1).params).toEqual({ ...params, method: 'POST' });
      expect(problems).toEqual([]);
      await context.close();
    },
  );

  soakTest(
    'the chosen run gives the values and the state of a test, whose output is pinned',
    async () => {
      const { page, context, problems, workflowId } = await opened();
      const second = await stage.engine.trigger(workflowId, {
        ticket: 'x',
        customer: { name: 'Bo' },
      });
      await stage.engine.until(second, ['success']);
      await page.reload();
      await choose(page, 'answer');
      await toEnd(page, 'Prompt');
      await page.keyboard.type('{customer.name}');
      const value = page.getByRole('note', { name: 'Value of Prompt' });
      await value.getByText('Write about Bo', { exact: true }).waitFor();
      await page.getByRole('combobox', { name: 'Values from' }).click();
      await page.getByRole('listbox', { name: 'Values from' }).getByRole('option').nth(1).click();
      await value.getByText('Write about Ada', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved', { exact: true }).waitFor();

      await page.getByRole('tab', { name: 'Output' }).click();
      await page.getByRole('checkbox', { name: 'agent', exact: true }).check();
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      const result = page.getByRole('region', { name: 'Result of the test' });
      await result.getByText('Dear Ada').first().waitFor();
      await page.getByRole('button', { name: 'Pin output', exact: true }).click();
      await page
        .locator('.react-flow__node[data-id="answer"]')
        .getByText(/pinned/)
        .waitFor();
      // The tab stays open for the next node.
      await page.getByRole('combobox', { name: 'Node', exact: true }).selectOption('check');
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await result.getByText('true', { exact: true }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    },
  );

  soakTest('the dialog that runs a draft estimates what is saved', async () => {
    const { page, context, problems } = await opened();
    await choose(page, 'answer');
    await toEnd(page, 'Prompt');
    await page.keyboard.type('them');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run this draft' });
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"customer": {"name": "Ada"}}');
    await dialog.getByRole('button', { name: 'Save and estimate' }).click();
    const estimate = dialog.getByRole('region', { name: 'Dry run' });
    await estimate.getByText('Steps', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('status', { name: 'Run' }).getByText('Success').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
