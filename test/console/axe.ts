import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Found {
  id: string;
  nodes: { target: unknown[]; failureSummary?: string }[];
}

/** Fails with what a person with an aid would stumble over on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated, not added as an element: the page's policy lets no foreign script in.
  await page.evaluate(readFileSync(script, 'utf8'));
  const found = await page.evaluate(async (tags): Promise<Found[]> => {
    const { axe } = window as unknown as {
      axe: { run: (options: unknown) => Promise<{ violations: Found[] }> };
    };
    return (await axe.run({ runOnly: { type: 'tag', values: tags } })).violations;
  }, rules);
  expect(
    found.map(({ id, nodes }) => ({
      id,
      at: nodes.map(({ target, failureSummary }) => [target.join(' '), failureSummary]),
    })),
  ).toEqual([]);
}
