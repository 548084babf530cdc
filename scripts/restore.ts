import { parseArgs } from 'node:util';
import { endBySignal, requireOwnServers } from './backup/data-folder.ts';
import { restore } from './backup/restore.ts';
import { readConfig } from './running-service.ts';
import { messageOf } from './stack/output.ts';

/**
 * `npm run restore -- --from <backup> [--replace]`: restores a backup of `npm run backup` to the data folder of `npm
 * start`, while it is stopped. Every open run then continues from its finished steps. `--replace` keeps the data that is
 * there in folders beside it. Exits with code 1 if it was not restored.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { from: { type: 'string' }, replace: { type: 'boolean', default: false } },
  });
  if (values.from === undefined) throw new Error('give --from <backup>');
  const config = readConfig();
  requireOwnServers(config, 'npm run restore');
  const done = await restore(config, { from: values.from, replace: values.replace });
  for (const folder of done.replaced) console.log(`The replaced data is in ${folder}`);
  if (done.migrated > 0) {
    console.log(`${done.migrated} migrations were applied to the older schema`);
  }
  console.log(
    `Restored to ${config.dataDir}. Start the service: ${done.restarted} open runs then continue from their finished steps.`,
  );
}

endBySignal('Not restored');
let code = 0;
try {
  await main();
} catch (error) {
  console.error(`Not restored: ${messageOf(error)}`);
  code = 1;
}
process.exit(code);
