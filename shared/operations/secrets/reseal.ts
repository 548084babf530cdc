import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import type { Pool } from '#shared/db/pool.ts';
import { sealedTables } from '#shared/db/secrets/sealed-texts.ts';

/** The outcome for the sealed texts of a table. */
export interface Resealed {
  table: string;
  resealed: number;
  /** Already sealed with the current key. */
  current: number;
  /** Sealed with neither key, or damaged: they stay as they are. */
  unreadable: number;
}

/**
 * Seals every text with the sealer's current key that another key has sealed. The service can run meanwhile, if its
 * processes accept both keys. It can be stopped and run again at any time: what has the current key is left alone.
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
