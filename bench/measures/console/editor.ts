import type { Browser } from 'playwright-core';
import { chain } from '#bench/graphs.ts';
import type { Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { framesResult, inNewProfile, RECORD_FRAMES } from './browser.ts';

const nodes = 300;
const rounds = 5;
const TYPED = 'A name that a person types into the field of a node, letter by letter';
const BETWEEN_KEYS_MS = 60;

/** The frames of the editor while someone types into a field of a node of a large graph. */
export async function editor(browser: Browser, { apiUrl, service }: Stack): Promise<Result[]> {
  const workflow = await service.define('Many nodes', chain(nodes));
  const frames: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await inNewProfile(browser, async (page) => {
      await page.goto(`${apiUrl}/workflows/${workflow}/edit`);
      await page.locator('.react-flow__node').first().click();
      const label = page.getByLabel('Label');
      await label.fill('');
      await page.waitForLoadState('networkidle');
      await page.evaluate(RECORD_FRAMES);
      await page.keyboard.type(TYPED, { delay: BETWEEN_KEYS_MS });
      const recorded = await page.evaluate<number[]>('window.frames');
      if (round > 0) frames.push(...recorded);
    });
  }
  await service.remove(workflow);
  return [framesResult(`frame while typing in the editor with ${nodes} nodes`, frames)];
}
