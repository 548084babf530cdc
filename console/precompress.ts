import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSIBLE = /\.(?:html|js|css|svg|json)$/;

/**
 * Lays a Brotli and a gzip copy beside each text file in a folder, so that the API compresses nothing while it answers.
 * `except`: paths in the folder that the API changes before it sends them.
 */
export function precompress(folder: string, except: readonly string[] = []): void {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const path of paths) {
    if (!COMPRESSIBLE.test(path) || except.includes(path)) continue;
    const content = readFileSync(join(folder, path));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(content, { params }));
  }
}
