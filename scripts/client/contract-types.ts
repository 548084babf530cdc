import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

const bannerOf = (source: string): string =>
  `// Written by \`npm run openapi:dump\` from ${source}. Not to be changed by hand.\n\n`;

interface Operation {
  responses: Record<string, { headers?: object }>;
}

/**
 * The types of the API's requests and answers, as TypeScript. Refusals are left out, since all have one shape, and so
 * are examples and headers. `source` is where the document is committed.
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
  // A field with a default may be left out of a request.
  const tree = await openapiTypes(document, { defaultNonNullable: false });
  return bannerOf(source) + astToString(tree);
}
