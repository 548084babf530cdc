import { connectDatabase } from '#shared/db/pool.ts';
import { restartRuns } from '#shared/operations/runs/restarts.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { findServers } from '#scripts/running-service.ts';
import { runCommand } from './command.ts';

/**
 * `npm run runs:restart`: after a restore, while the API and the workers are stopped: ends the executions of all runs in
 * Temporal, so that every open run continues from its finished steps when the service starts. It works on the servers
 * of `DATABASE_URL` and `TEMPORAL_ADDRESS`. `npm run restore` does the same for the data folder of `npm start`. Exits
 * with code 1 if it could not finish; it can be run again.
 */
async function main(): Promise<void> {
  const config = findServers();
  const db = await connectDatabase(config.database.url, { maxPoolSize: 1 });
  const temporal = connectTemporal(config, db);
  const log = createLogger({ name: 'runs-restart', level: 'warn' });
  try {
    const restarted = await restartRuns({ db, temporal, config, log });
    console.log(
      `Start the service: ${restarted} open runs then continue from their finished steps.`,
    );
  } finally {
    await temporal.close();
    await db.end();
  }
}

await runCommand({ says: 'The runs were not prepared to restart', code: 1 }, main);
