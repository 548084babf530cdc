import { describe, expect, test } from '@jest/globals';
import {
  approvalMode,
  freeTools,
  optionOf,
  withOption,
  workflowTools,
} from '#console/src/pages/workflows/editor/agent-tools.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite } from './browser.ts';

describe('the tools of an agent', () => {
  test('are plain names if they have no options', () => {
    const always = withOption('http_request', 'approval', 'always');
    expect(always).toEqual({ name: 'http_request', approval: 'always' });
    expect(optionOf(always, 'approval')).toBe('always');
    expect(withOption(always, 'approval', undefined)).toBe('http_request');
    expect(optionOf('http_request', 'approval')).toBeUndefined();
  });

  test('keep options that have no field', () => {
    const own = { name: 'custom:a', description: 'x', max_calls: 2 };
    expect(withOption(own, 'max_calls', undefined)).toEqual({ name: 'custom:a', description: 'x' });
  });

  test('are approved by an expression, even while it is empty', () => {
    expect([undefined, 'never', 'always', '', 'args.a > 1'].map(approvalMode)).toEqual([
      'never',
      'never',
      'always',
      'expression',
      'expression',
    ]);
  });

  test('are offered once, without those that agents cannot call', () => {
    const names = ['http_request', 'delay', 'mcp', 'custom:a', 'custom:b'];
    expect(freeTools(names, ['http_request', { name: 'custom:b' }, 7])).toEqual(['custom:a']);
  });
});

test('include workflows with a schema, by name, or by id if several have the name', () => {
  const workflow = (id: string, name: string, typed = true) => ({
    ...{ id, name },
    input_schema: typed ? {} : null,
  });
  const workflows = [
    workflow('wf_1', 'Score'),
    workflow('wf_2', 'Untyped', false),
    workflow('wf_3', 'Twin'),
    workflow('wf_4', 'Twin'),
  ];
  expect(workflowTools(workflows)).toEqual(['workflow:Score', 'workflow:wf_3', 'workflow:wf_4']);
});

describeConsole('the editor of an agent', (stage) => {
  test('chooses tools with their options', async () => {
    const { call, open } = stage();
    // Without a schema, which is an error in the graph.
    await call('POST', '/api/tools', { name: 'refund', endpoint_url: 'http://127.0.0.1:9/' });
    await call('POST', '/api/workflows', {
      ...{ name: 'Score a lead', graph: { nodes: [], edges: [] } },
      input_schema: { type: 'object' },
    });
    const graph = { nodes: [{ id: 'triage', kind: 'agent' }], edges: [] };
    const { body } = await call('POST', '/api/workflows', { name: 'Agent', graph });
    const { page, context, problems } = await open(`/workflows/${body.id}/edit`);
    await page.locator('.react-flow__node[data-id="triage"]').click();
    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    const add = page.getByRole('combobox', { name: 'Add tool' });
    for (const name of ['json_transform', 'custom:refund', 'workflow:Score a lead']) {
      await add.click();
      await page.getByRole('option', { name }).click();
    }
    await page.getByRole('button', { name: /^json_transform/ }).click();
    await page.getByRole('button', { name: 'Remove tool' }).hover();
    expect(await obstacles(page)).toEqual([]);
    await page.getByLabel('Approval', { exact: true }).selectOption('expression');
    const expression = page.getByRole('textbox', { name: 'Expression' });
    await rewrite(expression, 'len(args.expression) > 5');
    // The error is at the option.
    await page.getByLabel('Max calls').fill('5000');
    await page.locator('input[aria-invalid="true"]').waitFor();
    await page.getByText(/must be at most 1000/).waitFor();
    await page.getByLabel('Max calls').fill('3');
    await page.locator('input[aria-invalid="true"]').waitFor({ state: 'detached' });
    await page.getByLabel('When a call fails').selectOption('fail');
    const fixed = page.getByRole('textbox', { name: 'Fixed arguments' });
    await rewrite(fixed, '[1]');
    await page.getByText('Enter a JSON object').waitFor();
    await rewrite(fixed, '{"expression": "{ticket}"}');
    await page.getByText('Enter a JSON object').waitFor({ state: 'detached' });
    await page.getByLabel('Max turns').fill('4');
    await page.getByLabel('After the last turn').selectOption('answer');
    await page.getByLabel('Tool choice').selectOption('required');
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    const saved = await call('GET', `/api/workflows/${body.id}/draft`);
    expect(saved.body.graph.nodes[0]).toMatchObject({
      tools: [
        {
          name: 'json_transform',
          approval: 'len(args.expression) > 5',
          max_calls: 3,
          on_error: 'fail',
          fixed: { expression: '{ticket}' },
        },
        // Both can change something, so a person approves each call.
        { name: 'custom:refund', approval: 'always' },
        { name: 'workflow:Score a lead', approval: 'always' },
      ],
      max_turns: 4,
      on_max_turns: 'answer',
      tool_choice: 'required',
    });
    expect(problems).toEqual([]);
    await context.close();
  });
});
