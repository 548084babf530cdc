import { createHash, scryptSync } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { listMigrations } from '#shared/db/migrate.ts';

/** What a backup contains. `manifest.json` is written last, and the folder gets its name after that. */
export const manifestFile = 'manifest.json';
export const postgresFile = 'postgres.tar';
export const temporalFile = 'temporal.db';

const fileSchema = z.strictObject({
  name: z.enum([postgresFile, temporalFile]),
  /** Bytes. */
  size: z.number().int(),
  sha256: z.string(),
});

const manifestSchema = z.strictObject({
  format: z.literal(1),
  /** Of the package that made it. */
  version: z.string(),
  created_at: z.string(),
  /** The names and digests of the migrations of the database. */
  migrations: z.array(z.strictObject({ name: z.string(), digest: z.string() })),
  /** The fingerprint of `ENCRYPTION_KEY`. */
  key: z.string(),
  postgres: z.strictObject({ major: z.number().int(), position: z.string() }),
  temporal: z.strictObject({ fair_queues: z.boolean() }),
  files: z.array(fileSchema).length(2),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Names a key without telling it: slow to compute, because a key can be a password. */
export const fingerprintOf = (key: string): string =>
  scryptSync(key, 'durable-workflows backup', 8, { N: 2 ** 15, maxmem: 2 ** 26 }).toString('hex');

export async function describeFile(
  folder: string,
  name: z.infer<typeof fileSchema>['name'],
): Promise<Manifest['files'][number]> {
  const path = join(folder, name);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name, size: statSync(path).size, sha256: hash.digest('hex') };
}

/** Reads the backup in `folder`. Throws an Error if it is incomplete, or its files are not those of its manifest. */
export async function readBackup(folder: string): Promise<Manifest> {
  const path = join(folder, manifestFile);
  if (!existsSync(path)) {
    throw new Error(`${folder} is not a complete backup: it has no ${manifestFile}`);
  }
  const parsed = manifestSchema.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (!parsed.success) {
    throw new Error(`${path} is damaged, or of another version: ${z.prettifyError(parsed.error)}`);
  }
  for (const expected of parsed.data.files) {
    const file = join(folder, expected.name);
    if (!existsSync(file)) throw new Error(`The backup is incomplete: ${file} is missing`);
    const { size } = statSync(file);
    if (size !== expected.size) {
      throw new Error(
        `The backup is damaged: ${file} has ${size} bytes instead of ${expected.size}`,
      );
    }
    const { sha256 } = await describeFile(folder, expected.name);
    if (sha256 !== expected.sha256) {
      throw new Error(`The backup is damaged: the SHA-256 of ${file} is not that of the manifest`);
    }
  }
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Throws an Error if this code cannot use the schema of the backup. Returns the number of migrations that are still to
 * be applied to it.
 */
export async function countMissingMigrations({ migrations, version }: Manifest): Promise<number> {
  const ours = new Map((await listMigrations()).map(({ name, digest }) => [name, digest]));
  for (const { name, digest } of migrations) {
    if (!ours.has(name)) {
      throw new Error(
        `The backup is of a newer version (${version}, with migration ${name}): restore it with that version`,
      );
    }
    if (ours.get(name) !== digest) {
      throw new Error(
        `The backup is of another version (${version}): its migration ${name} differs`,
      );
    }
  }
  return ours.size - migrations.length;
}
