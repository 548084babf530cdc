import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig } from '#shared/platform/config.ts';
import { loadEnvFile } from './stack/env-file.ts';

/**
 * Finds the running service for other commands: in the settings, or in the file that `npm start` wrote to `DATA_DIR`.
 */
const projectDir = join(import.meta.dirname, '..');

interface Endpoints {
  api: string;
  /** A connection string, with its password. */
  database: string;
  temporal: string;
}

/** The URL of the API. Throws if neither a setting nor a running `npm start` provides it. */
export function findApi(given: string | undefined): string {
  if (given !== undefined) return given.replace(/\/+$/, '');
  return readEndpoints(readConfig(), 'give --api <url>').api;
}

/** The connection string of the database. Throws if neither a setting nor a running `npm start` provides it. */
export function findDatabase(): string {
  const config = readConfig();
  return config.database.url ?? readEndpoints(config, 'set DATABASE_URL to its database').database;
}

/** The configuration, with the database and Temporal server of the settings, or else those of a running `npm start`. */
export function findServers(): Config & { database: { url: string } } {
  const config = readConfig();
  const { url } = config.database;
  const { address } = config.temporal;
  if (url !== undefined && address !== undefined) {
    return { ...config, database: { ...config.database, url } };
  }
  const found = readEndpoints(config, 'set DATABASE_URL and TEMPORAL_ADDRESS');
  return {
    ...config,
    database: { ...config.database, url: url ?? found.database },
    temporal: { ...config.temporal, address: address ?? found.temporal },
  };
}

/** The configuration, with the settings of the project's `.env`. */
export function readConfig(): Config {
  loadEnvFile(projectDir);
  return loadConfig();
}

function readEndpoints({ dataDir }: Config, otherwise: string): Endpoints {
  const path = join(dataDir, 'endpoints.json');
  if (!existsSync(path)) {
    throw new Error(`${path} is not there: start the service with npm start, or ${otherwise}`);
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Endpoints;
}
