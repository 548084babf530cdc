import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { useStage } from '#test/support/stage.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';

const models = useStage(() => startModelServer());
/** The providers' addresses are settings, so they are known before the server starts. */
const settings = {
  get OPENAI_API_KEY() {
    return modelSettings(models)['OPENAI_API_KEY']!;
  },
  get OPENAI_BASE_URL() {
    return modelSettings(models)['OPENAI_BASE_URL']!;
  },
};

const writes = (model: string): GraphInput => ({
  nodes: [{ id: 'write', kind: 'agent', label: 'Write', model, prompt: 'Write' }],
  edges: [],
});

/** A text whose end comes when the test lets the model continue. */
function slowText(text: string) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  models.answers.splice(0, Infinity, { text, pause: () => promise });
  return () => resolve(undefined);
}

describeConsole(
  'an agent without tools',
  (given) => {
    let stage: Stage;
    beforeAll(() => {
      stage = given();
    });
    const detail = (page: Page) => page.getByRole('complementary', { name: 'Selected step' });

    async function start(): Promise<string> {
      const { engine, call } = stage;
      const graph = writes('openai/gpt-4o');
      const workflow = await call('POST', '/api/workflows', { name: 'Letters', graph });
      const { body } = await call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
      await engine.until(body.id, ['running', 'failed']);
      return body.id;
    }

    test('shows its answer while the model writes it, from the beginning, also to a late page', async () => {
      const begins = `# The first chapter\n\n${'It was a **long** night. '.repeat(200)}`;
      const ends = `${'And it went on. '.repeat(200)}\n\nThe end of the *story*.`;
      const proceed = slowText(begins + ends);
      const runId = await start();
      const early = await stage.open(`/runs/${runId}?step=write`);
      const answerIn = (page: Page) => detail(page).locator('[aria-busy="true"]');
      await answerIn(early.page).getByText('The first chapter').waitFor();
      await answerIn(early.page).locator('strong').first().waitFor();

      const late = await stage.open(`/runs/${runId}?step=write`);
      await answerIn(late.page).getByText('The first chapter').waitFor();
      for (const { page } of [early, late]) {
        await detail(page).getByText('Answering…').waitFor();
        expect(await page.getByRole('treegrid').locator('.trace-live').innerText()).toMatch(
          /It was a long night/,
        );
        expect(await detail(page).getByText('null').count()).toBe(0);
      }
      expect(await obstacles(late.page)).toEqual([]);

      // The page follows the text, unless the person has scrolled up.
      const isAtEnd = (page: Page) =>
        answerIn(page).evaluate((element) => {
          const { scrollHeight, scrollTop, clientHeight } = element as unknown as Record<
            'scrollHeight' | 'scrollTop' | 'clientHeight',
            number
          >;
          return scrollHeight > clientHeight && scrollHeight - scrollTop - clientHeight < 24;
        });
      expect(await isAtEnd(early.page)).toBe(true);
      await answerIn(late.page).hover();
      await late.page.mouse.wheel(0, -2_000);
      proceed();
      await stage.engine.until(runId, ['success']);
      for (const { page, context, problems } of [early, late]) {
        await detail(page).getByText('The end of the story.').waitFor();
        await answerIn(page).waitFor({ state: 'detached' });
        expect(problems).toEqual([]);
        await context.close();
      }
    });

    test('without a price costs at least what is known, wherever its cost is shown', async () => {
      models.answers.splice(0, Infinity, { text: 'Hello' });
      const { engine, call } = stage;
      const graph = writes('openai/new-model');
      const workflow = await call('POST', '/api/workflows', { name: 'New model', graph });
      const { body } = await call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
      await engine.until(body.id, ['success']);
      const run = await call('GET', `/api/runs/${body.id}`);
      expect(run.body).toMatchObject({ cost_usd: 0, unpriced_steps: 1 });

      const { page, context, problems } = await stage.open(`/runs/${body.id}?step=write`);
      await page.getByText('≥ $0.00 · 1 step without a price').first().waitFor();
      await detail(page).getByText('≥ $0.00 · this model has no price').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.goto(`${stage.url}/runs`);
      await page.getByRole('row').filter({ hasText: 'New model' }).getByText('≥ $0.00').waitFor();
      await page.goto(`${stage.url}/usage`);
      await page.getByText(/≥ \$0\.00\d* · 1 step without a price/).waitFor();
      await page.getByText(/runs on the Free plan · ≥ \$0\.00/).waitFor();
      const byWorkflow = page.getByRole('table', { name: 'Usage by workflow' });
      await byWorkflow
        .getByRole('row', { name: /New model/ })
        .getByText('≥ $0.00')
        .waitFor();
      expect(await obstacles(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    });

    test('says that it has not finished, and then why there is no answer', async () => {
      // A model's first words are held back, in case they are a part of a key.
      const proceed = slowText('Short');
      const runId = await start();
      const { page, context, problems } = await stage.open(`/runs/${runId}?step=write`);
      await detail(page).getByText('Not finished yet').waitFor();
      expect(await detail(page).getByText('null').count()).toBe(0);
      proceed();
      await detail(page).getByText('Short').waitFor();

      models.answers.splice(0, Infinity, { status: 401, message: 'who are you?' });
      const failed = await start();
      await stage.engine.until(failed, ['failed']);
      await page.goto(`${stage.url}/runs/${failed}?step=write`);
      await detail(page).getByText('No answer').waitFor();
      // Above the answer, once.
      await detail(page)
        .getByText(/who are you/)
        .waitFor();
      expect(await detail(page).getByText('null').count()).toBe(0);
      expect(await obstacles(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    });
  },
  { env: settings },
);
