import { z } from 'zod';
import { errorBody, jsonObject, jsonValue } from './common.ts';

/**
 * Messages of the Model Context Protocol, as JSON-RPC 2.0 wraps them. The protocol's own library validates their
 * content.
 */

const version = z.literal('2.0');
const id = z.union([z.string(), z.int()]);

const request = z.looseObject({
  jsonrpc: version,
  id: id
    .optional()
    .meta({ description: 'Identifies the request in its response; a notification has none' }),
  method: z.string(),
  params: jsonObject.optional(),
});

const result = z
  .looseObject({ jsonrpc: version, id, result: jsonObject })
  .meta({ id: 'JsonRpcResult' });

const failure = z
  .looseObject({
    jsonrpc: version,
    // An invalid message gets its id back unchanged, even if it is not a whole number.
    id: z
      .union([z.string(), z.number()])
      .nullable()
      .meta({ description: 'Null where the request could not be read' }),
    error: z
      .looseObject({
        code: z.int().meta({
          description: 'The codes of JSON-RPC 2.0 and the protocol',
          examples: [-32601],
        }),
        message: z.string(),
        data: jsonValue.optional(),
      })
      .meta({ id: 'JsonRpcErrorDetail' }),
  })
  .meta({ id: 'JsonRpcError' });

const answer = z.union([result, failure]).meta({ id: 'JsonRpcResponse' });

const { $schema: _draft, ...described } = z.toJSONSchema(request, {
  io: 'input',
  unrepresentable: 'any',
});
// For the OpenAPI document: the MCP library parses messages and has its own error messages.
export const mcpRequest = jsonValue.meta({
  ...(described as Record<string, unknown>),
  description:
    'One message. Versions of the protocol before 2025-06-18 also accept a list of them, and get a list of responses',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

// The API's guards return its usual errors; after them, the library returns JSON-RPC errors.
const refusal = z.union([errorBody, failure]).meta({ id: 'McpRefusal' });

/** By status. A failed tool call is 200, with `isError` in its result. */
export const mcpAnswers = {
  200: answer.meta({ description: 'The response to the message' }),
  400: refusal.meta({ description: 'The body is not JSON, or not a message of the protocol' }),
  404: failure.meta({ description: 'The protocol has no such method' }),
  406: failure.meta({
    description: '`Accept` must name both `application/json` and `text/event-stream`, or be absent',
  }),
};
