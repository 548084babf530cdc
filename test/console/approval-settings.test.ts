import { describe, expect, test } from '@jest/globals';
import { savedApproval, stepApprovalOf } from '#console/src/pages/workflows/editor/agent-tools.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite } from './browser.ts';

describe('the approval of a step', () => {
  test('is saved as a plain rule, as an object with settings, or not at all', () => {
    expect(stepApprovalOf('always')).toEqual({ when: 'always' });
    expect(stepApprovalOf({ when: 'a > 1', required: 2 })).toEqual({ when: 'a > 1', required: 2 });
    const saved = [
      { when: 'always' },
      { when: '' },
      { when: 'always', required: 2 },
      { when: undefined, required: 2 },
      { when: 'never' },
    ].map(savedApproval);
    expect(saved).toEqual(['always', '', { when: 'always', required: 2 }, undefined, undefined]);
  });
});

describeConsole('the editor', (stage) => {
  test('sets the approval of a step, and what an approval of a gate covers', async () => {
    const { call, open } = stage();
    const params = { url: 'https://bank.invalid/pay', method: 'POST' };
    const graph = {
      nodes: [
        { id: 'ask', kind: 'human_gate', prompt: 'Pay?' },
        { id: 'pay', kind: 'tool', tool_name: 'http_request', params },
      ],
      edges: [{ source: 'ask', target: 'pay' }],
    };
    const { body } = await call('POST', '/api/workflows', { name: 'Pay', graph });
    const { page, context, problems } = await open(`/workflows/${body.id}/edit`);
    const saved = async (): Promise<Record<string, any>> => {
      const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await answered;
      const draft = (await call('GET', `/api/workflows/${body.id}/draft`)).body;
      const nodes: any[] = draft.graph?.nodes ?? [];
      return Object.fromEntries(nodes.map((node) => [node.id, node]));
    };

    await page.locator('.react-flow__node[data-id="pay"]').click();
    await page.getByRole('button', { name: 'Approval', exact: true }).click();
    const mode = page.getByLabel('Needs approval');
    await mode.selectOption('expression');
    await rewrite(page.getByRole('textbox', { name: 'Expression' }), 'args.body.amount > 100');
    expect((await saved())['pay'].approval).toBe('args.body.amount > 100');
    await page.getByLabel('Required approvals').fill('2');
    // The error is at the setting.
    await page.getByLabel('Timeout (seconds)', { exact: true }).fill('60');
    await page
      .getByText(/on_timeout/)
      .first()
      .waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByLabel('After the timeout').selectOption('reject');
    await rewrite(page.getByRole('textbox', { name: 'Title' }), 'Pay {args.body.amount}');
    expect((await saved())['pay'].approval).toEqual({
      ...{ when: 'args.body.amount > 100', required: 2, title: 'Pay {args.body.amount}' },
      ...{ timeout_seconds: 60, on_timeout: 'reject' },
    });
    await mode.selectOption('never');
    expect((await saved())['pay']).not.toHaveProperty('approval');

    await page.locator('.react-flow__node[data-id="ask"]').click();
    await rewrite(page.getByRole('textbox', { name: 'Title' }), 'Pay {amount}');
    expect((await saved())['ask'].title).toBe('Pay {amount}');
    await page.getByRole('button', { name: 'What an approval covers' }).click();
    await page.getByLabel('Repeat the reads before an approval counts').check();
    expect((await saved())['ask'].recheck).toBe(true);
    await page.getByLabel('Only reads older than (seconds)').fill('3600');
    await page.getByLabel('Writes that are not known yet').selectOption('all');
    expect((await saved())['ask']).toMatchObject({
      recheck: { after_seconds: 3600 },
      covers: 'all',
    });
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
