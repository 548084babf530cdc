// Migrates the database at DATABASE_URL to the schema of this image and exits. Safe to run again, and concurrently.
import '../dist/shared/platform/settled-environment.js';
import { migrate } from '../dist/shared/db/migrate.js';
import { loadConfig } from '../dist/shared/platform/config.js';

const { database } = loadConfig();
if (database.url === undefined) {
  console.error('DATABASE_URL is not set');
  process.exit(2);
}
const applied = await migrate(database.url, {
  onWait: (text) => console.log(JSON.stringify({ name: 'migrate', text })),
});
console.log(JSON.stringify({ name: 'migrate', applied }));
