import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import type { Pool } from '#shared/db/pool.ts';
import { sealedTables } from '#shared/db/secrets/sealed-texts.ts';

/** The result for the sealed texts of a table. */
export interface Resealed {
  table: string;
  resealed: number;
  /** The number of texts already sealed with the current key. */
  current: number;
  /** The number of texts sealed with neither key, or damaged. They are left unchanged. */
  unreadable: number;
}

/**
 * Seals every text with the sealer's current key that is sealed with another key. The service can run in the meantime
 * if its processes accept both keys. It can be stopped and run again at any time: texts with the current key are left
 * alone.
 */
export async function resealEverything(db: Pool, sealer: Sealer): Promise<Resealed[]> {
  const totals: Resealed[] = [];
  for (const table of sealedTables) {
    const total: Resealed = { table: table.name, resealed: 0, current: 0, unreadable: 0 };
    const reseal = (sealed: string, place: string): string | undefined => {
      const outcome = resealText(sealer, sealed, place);
      if (typeof outcome === 'object') total.resealed += 1;
      else total[outcome] += 1;
      return typeof outcome === 'object' ? outcome.sealed : undefined;
    };
    let after: string | undefined = '';
    while (after !== undefined) after = await table.resealNext(db, after, reseal);
    totals.push(total);
  }
  return totals;
}

function resealText(
  sealer: Sealer,
  sealed: string,
  place: string,
): { sealed: string } | 'current' | 'unreadable' {
  if (sealer.isCurrent(sealed)) return 'current';
  try {
    return { sealed: sealer.seal(sealer.open(sealed, place), place) };
  } catch (error) {
    if (error instanceof SealError) return 'unreadable';
    throw error;
  }
}
