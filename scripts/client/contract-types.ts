import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPI3 } from 'openapi-typescript';

const SOURCE = 'docs/openapi/ops.json';
const TARGET = 'client/openapi.ts';

interface Operation {
  responses: Record<string, { headers?: object }>;
}

/**
 * Generates the types of the client from the committed OpenAPI document, unless they are there and current. Git ignores
 * them; only the compiler and the linter read them.
 */
export async function provideContractTypes(projectDir: string): Promise<void> {
  const document = readFileSync(join(projectDir, SOURCE), 'utf8');
  const digest = createHash('sha256').update(document).digest('hex');
  const banner = `// Generated from ${SOURCE}, sha256 ${digest}. Not to be changed by hand.\n\n`;
  const target = join(projectDir, TARGET);
  if (existsSync(target) && readFileSync(target, 'utf8').startsWith(banner)) return;
  // Commands can run at the same time, and a compiler must not read half a file.
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, banner + (await contractTypes(document)));
  renameSync(draft, target);
}

/**
 * TypeScript types of an API's requests and responses, without errors, since all have one shape, and without examples
 * and headers.
 */
export async function contractTypes(openApiText: string): Promise<string> {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const document = JSON.parse(openApiText, (key, value: unknown) =>
    key === 'examples' || key === 'example' ? undefined : value,
  ) as OpenAPI3;
  delete document.components?.responses;
  delete document.components?.headers;
  for (const methods of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(methods as Record<string, Operation>)) {
      const answers = Object.entries(operation.responses).filter(([status]) => status < '300');
      operation.responses = Object.fromEntries(
        answers.map(([status, { headers: _headers, ...answer }]) => [status, answer]),
      );
    }
  }
  // A request can omit a field with a default.
  const tree = await openapiTypes(document, { defaultNonNullable: false });
  return astToString(tree);
}
