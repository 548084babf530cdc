import { readFileSync } from 'node:fs';
import type { Capability } from '#shared/people/capabilities.ts';

/** The capabilities that each operations route needs, from the committed table; none for routes without any. */
export const capabilitiesOfRoutes = (): Map<string, Capability[]> =>
  new Map(
    readFileSync('test/api/contract/access-matrix.md', 'utf8')
      .split('\n')
      .slice(2, -1)
      .map((line) => {
        const cells = line.split('|').map((cell) => cell.trim());
        const [alone = '', without = ''] = cells.slice(-3);
        const needed = alone === 'all of these' ? without : alone;
        return [
          cells[1] ?? '',
          needed === 'nothing' ? [] : (needed.split(' ') as Capability[]),
        ] as const;
      }),
  );
