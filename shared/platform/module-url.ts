import { extname } from 'node:path';

/**
 * The URL of a source of this project that is not imported, for a thread or a bundler. `source` ends with `.ts` and is
 * relative to the module whose `import.meta.url` is `from`. In the image, both are compiled, so the URL has the other
 * module's extension.
 */
export const moduleUrl = (source: string, from: string): URL =>
  new URL(source.replace(/\.ts$/, extname(from)), from);
