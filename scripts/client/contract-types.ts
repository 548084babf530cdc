import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

const bannerOf = (source: string): string =>
  `// Written by \`npm run openapi:dump\` from ${source}. Not to be changed by hand.\n\n`;

interface Operation {
  responses: Record<string, { headers?: object }>;
}

/**
 * TypeScript types of the API's requests and responses, without errors, since all have one shape, and without examples
 * and headers. `source` is the path of the committed document.
 */
export async function contractTypes(
  openApiText: string,
  source = 'docs/openapi/ops.json',
): Promise<string> {
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
  return bannerOf(source) + astToString(tree);
}
