import { z } from 'zod';

/**
 * How the arguments of a tool become an HTTP request, as an OpenAPI document describes it. Names are those of the document.
 * The method is a field of the tool.
 */

export const parameterPlaces = ['path', 'query', 'header', 'cookie'] as const;
export type ParameterPlace = (typeof parameterPlaces)[number];

/** The styles of OpenAPI 3.1, by which lists and objects become text. */
export const parameterStyles = [
  ...(['simple', 'label', 'matrix', 'form'] as const),
  ...(['spaceDelimited', 'pipeDelimited', 'deepObject'] as const),
] as const;
export type ParameterStyle = (typeof parameterStyles)[number];

/** A name that every model provider accepts. */
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const argument = z.string().regex(ARGUMENT_NAME);
const originalName = z.string().min(1).max(500);
const mediaType = z
  .string()
  .max(200)
  .regex(/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/);

const mappedParameter = z.strictObject({
  argument,
  name: originalName,
  in: z.enum(parameterPlaces),
  style: z.enum(parameterStyles),
  explode: z.boolean(),
  /** Characters such as `/` and `:` in a query stay as they are. */
  allow_reserved: z.literal(true).optional(),
  /** The value as text of this type instead of a style. */
  content_type: mediaType.optional(),
});
export type MappedParameter = z.infer<typeof mappedParameter>;

const mappedField = z.strictObject({
  argument,
  name: originalName,
  /** Of forms. Without one, lists repeat the field and objects are JSON. */
  style: z.enum(parameterStyles).optional(),
  explode: z.boolean().optional(),
  allow_reserved: z.literal(true).optional(),
  /** Of a part of a multipart body, or of an object in a form. */
  content_type: mediaType.optional(),
});
export type MappedField = z.infer<typeof mappedField>;

/** A body from one argument, or from several, each a field of an object or a form. */
const mappedBody = z.union([
  z
    .strictObject({ content_type: mediaType, required: z.boolean(), argument })
    .meta({ id: 'BodyOfArgument' }),
  z
    .strictObject({
      content_type: mediaType,
      required: z.boolean(),
      fields: z.array(mappedField).min(1).max(1_000),
    })
    .meta({ id: 'BodyOfFields' }),
]);
export type MappedBody = z.infer<typeof mappedBody>;

const serverUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || [url.username, url.password, url.search, url.hash].join('') === '';
  }, 'must not have a user name, a password, a query or a fragment');

export const requestMapping = z
  .strictObject({
    server: serverUrl.meta({ description: 'What the path is appended to' }),
    path: z
      .string()
      .regex(/^\//)
      .max(2_000)
      .meta({ description: 'As in the document, with `{name}` for parameters' }),
    parameters: z.array(mappedParameter).max(1_000),
    body: mappedBody.nullable(),
    operation: z
      .string()
      .min(1)
      .max(2_100)
      .meta({ description: 'The `operationId`, or the method and the path: `GET /pets`' }),
    own_server: z.boolean().meta({
      description:
        'Whether the document gives this operation a server of another origin than its own, so that no credential is sent',
    }),
  })
  .meta({ id: 'RequestMapping' });
export type RequestMapping = z.infer<typeof requestMapping>;
