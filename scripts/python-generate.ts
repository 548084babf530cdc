import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonFiles } from './python/generate.ts';

/** `npm run python:generate`: writes what the Python client takes from the OpenAPI documents. See docs/python.md. */
for (const [path, text] of Object.entries(pythonFiles())) {
  writeFileSync(join(import.meta.dirname, '..', path), text);
}
