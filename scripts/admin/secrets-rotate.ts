import { createSealer } from '#shared/crypto/sealing.ts';
import { resealEverything } from '#shared/operations/secrets/reseal.ts';
import { readConfig } from '#scripts/running-service.ts';
import { runCommand, withDatabase } from './command.ts';

/**
 * `npm run secrets:rotate`: seals everything that was sealed with `ENCRYPTION_KEY_PREVIOUS` with `ENCRYPTION_KEY`, in
 * the database of `DATABASE_URL` or of the running `npm start`. The service can run at the same time, with both keys.
 * The command can be stopped and run again. Exits with code 1 if something can be opened with neither key, and 2 if it
 * could not finish.
 */
async function main(): Promise<number> {
  const config = readConfig();
  const sealer = createSealer(config);
  if (sealer === undefined || config.previousEncryptionKey === undefined) {
    throw new Error('set ENCRYPTION_KEY to the new key and ENCRYPTION_KEY_PREVIOUS to the old one');
  }
  return withDatabase(async (db) => {
    const totals = await resealEverything(db, sealer);
    for (const { table, resealed, current, unreadable } of totals) {
      console.log(
        `${table}: ${resealed} sealed again, ${current} had the new key, ${unreadable} unreadable`,
      );
    }
    const unreadable = totals.some((total) => total.unreadable > 0);
    if (unreadable) console.error('What is unreadable has to be saved again.');
    return unreadable ? 1 : 0;
  });
}

await runCommand({ says: 'The secrets were not all sealed again', code: 2 }, main);
