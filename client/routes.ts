import type { paths } from './openapi.ts';

/** Request and response types of each route, from the OpenAPI description. */
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Operations = {
  [Path in keyof paths as `${MethodOf<paths[Path]>} ${Path}`]: paths[Path];
};
type MethodOf<Item> = {
  [M in Method]: Lowercase<M> extends keyof Item
    ? Item[Lowercase<M>] extends object
      ? M
      : never
    : never;
}[Method];

/** `<METHOD> <path with its parameters in braces>`. */
export type Route = keyof Operations;

type OperationOf<R> = R extends keyof Operations
  ? R extends `${infer M} ${string}`
    ? Lowercase<M> extends keyof Operations[R]
      ? Operations[R][Lowercase<M>]
      : never
    : never
  : never;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The JSON body of a 2xx response; undefined if there is none. */
export type AnswerOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { responses: infer Responses }
    ? Json<Responses[keyof Responses]>
    : never
  : never;

export type BodyOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { requestBody?: infer Content }
    ? Json<NonNullable<Content>>
    : undefined
  : never;

export type QueryOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { parameters: { query?: infer Query } }
    ? NonNullable<Query>
    : never
  : never;
