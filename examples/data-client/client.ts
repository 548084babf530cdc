import type { paths } from './openapi.ts';

/** Paths of the data API with a GET operation. */
type Read = {
  [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never;
}[keyof paths];
type Operation<Path extends Read> = paths[Path] extends { get: infer Get } ? Get : never;
type Parameters<Path extends Read> =
  Operation<Path> extends { parameters: infer Given } ? Given : never;
type Answer<Path extends Read> =
  Operation<Path> extends { responses: { 200: { content: { 'application/json': infer Body } } } }
    ? Body
    : never;

/**
 * Creates a reader of the data API, typed by its OpenAPI description: `get('/v1/usage')`. Parameters are
 * `{path, query}`. Throws an Error with the status and the `detail` of an error response.
 */
export function createDataClient(baseUrl: string, key: string) {
  return async <Path extends Read>(
    path: Path,
    parameters?: Partial<Parameters<Path>>,
  ): Promise<Answer<Path>> => {
    const { path: named = {}, query = {} } = (parameters ?? {}) as {
      path?: Record<string, string>;
      query?: Record<string, string | number>;
    };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(named[name] ?? ''),
    );
    const url = new URL(filled, baseUrl);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const body = (await response.json()) as { detail?: string };
    if (!response.ok) throw new Error(`${response.status}: ${body.detail}`);
    return body as Answer<Path>;
  };
}
