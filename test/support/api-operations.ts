import type { App } from '#api/deps.ts';
import type { Json } from '#shared/json.ts';

/** A parameter of an operation. The `name` of a header is in lower case. */
export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required: boolean;
  schema: Schema;
}

/** An operation as the OpenAPI documents describe it. */
export interface Operation {
  /** `GET /api/runs/{id}` */
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** The example of its JSON body; undefined if it has none. */
  example: Json | undefined;
  /** The paths of ids in its JSON body: `['tools', '[]', 'allowed_workflow_ids']`. */
  bodyIds: string[][];
  /** Whether it is the handshake of a WebSocket. */
  isSocket: boolean;
  /** The schema of its JSON body, without references; undefined if it takes none. */
  body: Schema | undefined;
}

/** Names of fields or parameters that hold one or more ids. */
const NAMES_AN_ID = /(^|_)ids?$/;

/** JSON Schema, as far as the documents use it. */
export interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  enum?: Json[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

const known = new WeakMap<App, Operation[]>();

/** Every operation of both documents, in document order. Cached per application. */
export function operationsOf(app: App): readonly Operation[] {
  const operations = known.get(app) ?? readOperations(app);
  known.set(app, operations);
  return operations;
}

function readOperations(app: App): Operation[] {
  return [app.swagger(), app.dataSwagger()].flatMap((document: any) =>
    Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(([method, operation]): Operation => {
        const body = operation.requestBody?.content?.['application/json'];
        return {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          parameters: (operation.parameters ?? []).map((parameter: any) => ({
            in: parameter.in,
            name: parameter.name,
            required: parameter.required === true,
            schema: parameter.schema,
          })),
          example: body?.example,
          bodyIds: idsIn(body?.schema, document),
          isSocket: operation.responses['101'] !== undefined,
          body: body && withoutReferences(body.schema, document),
        };
      }),
    ),
  );
}

/** A schema with what it references; the recursive parts of recursive ones accept anything. */
function withoutReferences(schema: any, document: any, seen: readonly string[] = []): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) {
    return schema.map((each) => withoutReferences(each, document, seen)) as Schema;
  }
  const { $ref: ref } = schema;
  if (typeof ref !== 'string') {
    return Object.fromEntries(
      Object.entries(schema).map(([key, each]) => [key, withoutReferences(each, document, seen)]),
    );
  }
  if (seen.includes(ref)) return {};
  return withoutReferences(document.components.schemas[ref.split('/').at(-1) ?? ''], document, [
    ...seen,
    ref,
  ]);
}

function idsIn(schema: Schema | undefined, document: any): string[][] {
  const found = new Map<string, string[]>();
  const look = (at: Schema | undefined, path: string[], seen: readonly string[]): void => {
    if (at === undefined) return;
    const ref = at.$ref;
    if (ref !== undefined) {
      if (seen.includes(ref)) return;
      const target = document.components.schemas[ref.split('/').at(-1) ?? ''];
      return look(target, path, [...seen, ref]);
    }
    for (const [name, field] of Object.entries(at.properties ?? {})) {
      const inside = [...path, name];
      if (NAMES_AN_ID.test(name)) found.set(inside.join('.'), inside);
      look(field, inside, seen);
    }
    look(at.items, [...path, '[]'], seen);
    for (const one of [at.anyOf, at.oneOf, at.allOf].flat()) look(one, path, seen);
  };
  look(schema, [], []);
  return [...found.values()];
}

/** Whether a parameter holds an id, judging by its name. */
export const namesAnId = (name: string): boolean => NAMES_AN_ID.test(name);
