import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Time for transitions, mostly of colors and charts, to end. */
const SETTLE_MS = 300;
const MOST_LOOKS = 3;

interface Violation {
  id: string;
  nodes: { target: unknown[]; html: string; failureSummary?: string }[];
}

/** Accessibility violations of the current page, each with its elements. */
export async function obstacles(page: Page): Promise<string[]> {
  // Evaluated, not added as an element: the page's policy blocks foreign scripts. Once per document, since it is large.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(script);
  for (let looks = 1; ; looks += 1) {
    const found = await look(page);
    if (found.length === 0 || looks === MOST_LOOKS) return found;
    await page.waitForTimeout(SETTLE_MS);
  }
}

async function look(page: Page): Promise<string[]> {
  const found = await page.evaluate(async (tags): Promise<Violation[]> => {
    const { axe } = window as unknown as {
      axe: { run: (options: unknown) => Promise<{ violations: Violation[] }> };
    };
    // Rules that pass need not list their elements.
    return (await axe.run({ runOnly: tags, resultTypes: ['violations'] })).violations;
  }, rules);
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, html, failureSummary = '' }) =>
        `${id}: ${target.join(' ')}: ${html.slice(0, 160)}: ${failureSummary}`,
    ),
  );
}
