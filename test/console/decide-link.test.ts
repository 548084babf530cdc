import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

const env: Record<string, string> = {
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EMAIL_API_KEY: 're_key_of_this_test',
  EGRESS_ALLOW: '127.0.0.0/8',
};
let mail: MailServer;
// Before the stage reads the settings.
beforeAll(async () => {
  mail = await startMailServer();
  env['EMAIL_API_URL'] = mail.url;
});
afterAll(() => mail.close());

const form = {
  type: 'object',
  properties: { cost_center: { type: 'integer' } },
  required: ['cost_center'],
};

const tools = useToolServer();
const isReview = ({ node_id }: { node_id: string }): boolean => node_id === 'review';

/** A run that waits at a gate, and the path of the link that was mailed to a member. */
async function mailed(
  { engine, call }: Stage,
  given: JsonObject = {},
  first?: never,
): Promise<{ runId: string; path: string }> {
  await call('PUT', '/api/workspace/alerts', { decide_by_link: true, accept_link_risk: true });
  const { db, actor } = engine;
  const { id } = await addCaller({ db, workspaceId: actor.workspaceId });
  const gate = { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?', label: 'Payment' };
  const graph = {
    nodes: [
      ...(first === undefined ? [] : [first]),
      { ...gate, approvers: { members: [id] }, ...given } as never,
      {
        ...{ id: 'pay', kind: 'tool', tool_name: 'http_request' },
        params: { method: 'POST', url: 'http://127.0.0.1:9/pay/{amount}' },
      } as never,
      echo('refused'),
    ],
    edges: [
      ...(first === undefined ? [] : [edge('quote', 'review')]),
      edge('review', 'pay', 'true'),
      edge('review', 'refused', 'false'),
    ],
  };
  const runId = await engine.start(graph, { amount: 5 });
  const letters = () =>
    mail.seen
      .map(({ body }) => JSON.parse(body) as { to: string[]; text: string })
      .filter(({ to }) => to[0] === `${id}@example.com`);
  await eventually(() => letters().length > 0, 30_000);
  const [, path = ''] = /(\/decide#[\w-]+)/.exec(letters()[0]!.text) ?? [];
  return { runId, path };
}

describeConsole(
  'the page of a link in an email',
  (stage) => {
    test.each(['light', 'dark'] as const)(
      'shows the gate without signing in, and rejects it, on a phone (%s)',
      async (scheme) => {
        const { open, engine } = stage();
        const { runId, path } = await mailed(stage());
        const { page, problems } = await open(path, { width: 390, height: 844, scheme });
        await page.getByRole('heading', { name: 'Payment' }).waitFor();
        await page.getByText('Pay 5?').waitFor();
        await page.getByText('http://127.0.0.1:9/pay/5').first().waitFor();
        expect(await obstacles(page)).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(390);
        expect((await engine.run(runId)).status).toBe('paused');
        await page.getByLabel('Reason').fill('Too much');
        await page.getByRole('button', { name: 'Reject' }).click();
        await page.getByRole('heading', { name: 'Rejected' }).waitFor();
        const run = await engine.until(runId, ['success']);
        expect(run.steps[0]!.decision).toMatchObject({
          approved: false,
          by_link: true,
          reason: 'Too much',
        });
        expect(problems).toEqual([]);
      },
    );

    test('keeps what was entered when the form does not fit, and says when the link was used', async () => {
      const { open, engine } = stage();
      const { runId, path } = await mailed(stage(), { input_schema: form });
      const { page } = await open(path);
      await page.getByLabel('Reason').fill('As agreed');
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('alert').getByText('cost_center').waitFor();
      await page.getByLabel('cost_center').fill('12');
      expect(await page.getByLabel('Reason').inputValue()).toBe('As agreed');
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('heading', { name: 'Approved' }).waitFor();
      const decided = async () => (await engine.run(runId)).steps[0]!.decision;
      expect(await decided()).toMatchObject({ approved: true, reason: 'As agreed' });
      const decidedPage = await open('/approvals/decided');
      await decidedPage.page
        .getByText(/, by link$/)
        .first()
        .waitFor();
      const again = await open(path);
      await again.page
        .getByText("You have already approved gate 'Payment' with this link")
        .waitFor();
      await again.page.getByRole('link', { name: 'Sign in' }).waitFor();
    });

    test('shows what has changed since it was opened, and decides about that', async () => {
      const { open, engine } = stage();
      const { runId, path } = await mailed(stage());
      const { page } = await open(path);
      await page.getByRole('heading', { name: 'Payment' }).waitFor();
      await engine.db.query(sql.unsafe`
        UPDATE gates SET digest = 'sha256:another' WHERE run_id = ${runId}`);
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('alert').getByText('has changed, and nothing was sent').waitFor();
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('heading', { name: 'Rejected' }).waitFor();
    });

    test('shows what a recheck has found, and asks before it approves anyway', async () => {
      const { open, engine } = stage();
      tools.answer('quote', { body: { price: 7 } });
      const quote = tools.node('quote', { params: { url: `${tools.url}/quote`, method: 'GET' } });
      const asked = { prompt: 'Pay {quote.body.price}?', recheck: true };
      const { runId, path } = await mailed(stage(), asked, quote);
      const { page, problems } = await open(path, { width: 390, height: 844 });
      await page.getByText(/^An approval first repeats these reads/).waitFor();
      tools.answer('quote', { body: { price: 9 } });
      const approve = page.getByRole('button', { name: 'Approve', exact: true });
      await approve.click();
      const found = page.getByRole('alert').filter({ hasText: 'What this gate shows has changed' });
      await found.locator('del').getByText('7').waitFor();
      await found.locator('ins').getByText('9').waitFor();
      expect(await obstacles(page)).toEqual([]);
      expect((await engine.run(runId)).status).toBe('paused');
      await found.getByLabel('Approve anyway').check();
      await approve.click();
      await page.getByRole('heading', { name: 'Approved' }).waitFor();
      const decided = async () => (await engine.run(runId)).steps.find(isReview);
      expect((await decided())!.decision).toMatchObject({ approved: true, by_link: true });
      // The refusal, and nothing else.
      expect(problems).toEqual([expect.stringMatching(/^409: .*decide$/)]);
    });

    test('says that a link is unknown, or missing, and needs no session', async () => {
      const { open } = stage();
      const unknown = await open('/decide#nothing');
      await unknown.page.getByText('This link is unknown.').waitFor();
      expect(await obstacles(unknown.page)).toEqual([]);
      const missing = await open('/decide');
      await missing.page.getByRole('heading', { name: 'This address has no link' }).waitFor();
      // A session that has ended, of anyone, changes nothing.
      const { path } = await mailed(stage());
      const stale = await open(path, { token: 'ended' });
      await stale.page.getByRole('heading', { name: 'Payment' }).waitFor();
      const answer = await stale.page.request.get(stale.page.url().split('#')[0]!, {
        headers: { accept: 'text/html' },
      });
      expect(answer.headers()).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow',
      });
    });

    test('is turned on in the alerts, knowingly', async () => {
      const { open, call } = stage();
      await call('PUT', '/api/workspace/alerts', {});
      const { page, problems } = await open('/settings');
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('switch', { name: 'Let members decide with a link' }).check();
      const save = dialog.getByRole('button', { name: 'Save changes' });
      expect(await save.isDisabled()).toBe(true);
      await dialog.getByLabel(/^I know that anyone who has an email can decide/).check();
      await save.click();
      await page.getByText('Members can decide with a link in an email').waitFor();
      expect((await call('GET', '/api/workspace/alerts')).body.decide_by_link).toBe(true);
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      await dialog.getByRole('switch', { name: 'Let members decide with a link' }).uncheck();
      await dialog.getByText('Turning this off ends all links that were sent.').waitFor();
      await save.click();
      await dialog.waitFor({ state: 'detached' });
      expect((await call('GET', '/api/workspace/alerts')).body.decide_by_link).toBe(false);
      expect(problems).toEqual([]);
    });
  },
  { env },
);
