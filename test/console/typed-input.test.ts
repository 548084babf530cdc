import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole, publishDraft, rewrite } from './browser.ts';

const graph = {
  nodes: [{ id: 'write', kind: 'agent', prompt: 'Write about {topic}', model: 'mock' }],
  edges: [],
};

describeConsole('typed input in the console', (stage) => {
  const call = async (method: string, path: string, body?: unknown) =>
    (await stage().call(method, `/api/workflows${path}`, body)).body;

  test('is edited next to the graph, and gives the run dialog a form', async () => {
    const { id } = await call('POST', '', { name: 'Typed', graph });
    const { page, problems, context } = await stage().open(`/workflows/${id}/edit`);
    await page.getByRole('tab', { name: 'Schema' }).click();
    await page.getByRole('button', { name: 'Create from the graph' }).click();
    await page.getByRole('button', { name: 'Preview form' }).click();
    const preview = page.getByRole('group', { name: 'Form of Input of runs' });
    await preview.getByLabel('topic').waitFor();

    // A field that the schema lacks is a warning at once.
    const schema = {
      type: 'object',
      properties: {
        subject: { type: 'string', minLength: 3, title: 'Subject' },
        pages: { type: 'integer', minimum: 1, default: 2 },
      },
      required: ['subject'],
    };
    await page.getByRole('radiogroup', { name: 'Edit Input of runs as' }).getByText('JSON').click();
    const text = page.getByRole('textbox', { name: 'Input of runs' });
    await rewrite(text, JSON.stringify(schema));
    await preview.getByLabel('Subject').waitFor();
    await page.getByRole('tab', { name: 'Check (1)' }).waitFor();
    await rewrite(text, JSON.stringify(schema).replaceAll('"subject"', '"topic"'));
    await page.getByRole('tab', { name: 'Check', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await publishDraft(page, 2);
    expect((await call('GET', `/${id}`)).input_schema.required).toEqual(['topic']);
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('link', { name: 'Back to workflow' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    expect(await dialog.getByLabel('pages').inputValue()).toBe('2');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByText('This field is required').waitFor();
    await dialog.getByLabel('Subject').fill('ab');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByText('topic must have at least 3 characters', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Edit as JSON' }).click();
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"topic": "Rain"}');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL('**/runs/*');
    const { runs } = await call('GET', `/${id}/runs`);
    expect((await stage().call('GET', `/api/runs/${runs[0].id}`)).body.input).toEqual({
      topic: 'Rain',
    });

    await page.goto(
      page.url().replace(/\/runs\/.*/, `/workflows/${id}?tab=versions&version=2&against=1`),
    );
    await page.getByText('input schema', { exact: true }).waitFor();
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await context.close();
  }, 90_000);
});
