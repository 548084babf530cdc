import { describe, expect, test } from '@jest/globals';
import { addedTool } from '#console/src/pages/workflows/editor/agent-tools.ts';
import { toolFacts } from '#console/src/pages/workflows/editor/pickers/tool-facts.ts';
import { builtinTools } from '#shared/tools.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

const custom = [
  { name: 'look', label: 'Look up', description: 'Finds a customer', read_only: true },
  { name: 'refund', label: '', description: '', read_only: false },
];
const workflows = [{ id: 'wf_1', name: 'Score', description: 'Scores a lead' }];
const factsOf = (tool: string) => toolFacts(tool, custom, workflows);

describe('what is known about a tool', () => {
  test.each([
    ['http_request', 'depends'],
    ['send_email', 'writes'],
    ['json_transform', 'computes'],
    ['delay', 'computes'],
    ['entity_search', 'reads'],
    ['entity_upsert', 'writes'],
    ['custom:look', 'reads'],
    ['custom:refund', 'writes'],
    ['custom:gone', 'writes'],
    ['workflow:Score', 'writes'],
  ])('of %s: it %s', (tool, effect) => {
    expect(factsOf(tool).effect).toBe(effect);
  });

  test('says what each is for', () => {
    for (const tool of builtinTools) expect(factsOf(tool).about).not.toBe('');
    expect(factsOf('custom:look').about).toBe('Look up: Finds a customer');
    expect(factsOf('workflow:wf_1').about).toBe('Scores a lead');
  });

  test('decides whether an agent asks before it calls it', () => {
    const added = (tool: string) => addedTool(tool, factsOf(tool));
    expect(added('entity_search')).toBe('entity_search');
    expect(added('send_email')).toEqual({ name: 'send_email', approval: 'always' });
    expect(added('workflow:Score')).toEqual({ name: 'workflow:Score', approval: 'always' });
  });
});

const pickers = (stage: () => Stage): void => {
  test('know models with their prices and policies, and tools with what they do', async () => {
    const { call, open } = stage();
    const policies = { model_allowlist: ['openai/gpt-4.1-mini', 'home/grown'] };
    await call('PUT', '/api/workspace/policies', policies);
    const graph = { nodes: [{ id: 'triage', kind: 'agent', prompt: 'Go' }], edges: [] };
    const { body } = await call('POST', '/api/workflows', { name: 'Pick', graph });
    const { page, context, problems } = await open(`/workflows/${body.id}/edit?node=triage`);

    const model = page.getByRole('combobox', { name: 'Model', exact: true });
    await model.click();
    const models = page.getByRole('listbox', { name: 'Model', exact: true });
    const first = models.getByRole('option').first();
    await first.getByText('$0.40 in, $1.60 out per million tokens').waitFor();
    const other = models.getByRole('option', { name: /gpt-4\.1-nano/ });
    await model.fill('gpt-4.1-nano');
    await other.getByText('Not allowed').waitFor();
    await other.click();
    await page.getByText('The policies of this workspace do not allow this model.').waitFor();
    await model.fill('home/grown');
    await page.keyboard.press('Escape');
    const panel = page.getByRole('tabpanel', { name: 'Selection' });
    await panel.getByText('No price, so its cost is not known').waitFor();

    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    const add = page.getByRole('combobox', { name: 'Add tool' });
    await add.fill('email');
    const email = page.getByRole('option', { name: /^send_email/ });
    await email.getByText('Writes').waitFor();
    await email.click();
    expect(await add.inputValue()).toBe('');
    await page.getByRole('button', { name: /^send_email.*Approval: always/s }).waitFor();
    await add.fill('search');
    await page.getByRole('option', { name: /^entity_search Finds records/ }).click();
    await page.getByRole('button', { name: /^entity_search.*Approval: never/s }).waitFor();
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    const saved = await call('GET', `/api/workflows/${body.id}/draft`);
    expect(saved.body.graph.nodes[0]).toMatchObject({
      model: 'home/grown',
      tools: [{ name: 'send_email', approval: 'always' }, 'entity_search'],
    });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('insert a secret into a header', async () => {
    const { call, open } = stage();
    await call('PUT', '/api/secrets/CRM_KEY', {
      value: 'a-long-enough-value',
      allowed_hosts: ['crm.example.com'],
    });
    const params = { url: 'https://crm.example.com/leads', headers: { accept: '*/*' } };
    const node = { id: 'ask', kind: 'tool', tool_name: 'http_request', params };
    const graph = { nodes: [node], edges: [] };
    const { body } = await call('POST', '/api/workflows', { name: 'Send', graph });
    const { page, context, problems } = await open(`/workflows/${body.id}/edit?node=ask`);
    const headers = page.getByRole('group', { name: 'headers' });
    await headers.getByRole('button', { name: 'Add to headers' }).click();
    await headers.getByRole('textbox', { name: 'Name 2 of headers' }).fill('accept');
    await headers.getByText('Another row has this name').waitFor();
    await headers.getByRole('textbox', { name: 'Name 2 of headers' }).fill('authorization');
    const value = headers.getByRole('textbox', { name: 'Value 2 of headers' });
    await value.click();
    await page.keyboard.insertText('Bearer ');
    await headers.getByRole('button', { name: 'Insert secret' }).nth(1).click();
    await page.getByRole('menuitem', { name: 'CRM_KEY' }).click();
    await value.getByText('Bearer {secrets.CRM_KEY}').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    const saved = await call('GET', `/api/workflows/${body.id}/draft`);
    expect(saved.body.graph.nodes[0].params.headers).toEqual({
      accept: '*/*',
      authorization: 'Bearer {secrets.CRM_KEY}',
    });
    expect(problems).toEqual([]);
    await context.close();
  });
};

describeConsole('the pickers of the editor', pickers, {
  env: { ENCRYPTION_KEY: 'a key for the tests alone' },
});
