import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

/** Versions of the protocol: the stateless one, and those that begin with `initialize`. */
export const generations = ['2026-07-28', '2025-11-25'] as const;
export type Generation = (typeof generations)[number];

const compiled = new Map<string, JsonSchemaValidator<unknown>>();
const compile = <T>(schema: Parameters<jsonSchemaValidator['getValidator']>[0]) => {
  const key = JSON.stringify(schema);
  const validator = compiled.get(key) ?? new AjvJsonSchemaValidator().getValidator<T>(schema);
  compiled.set(key, validator);
  return validator as JsonSchemaValidator<T>;
};

/** Compiles a schema once, when a result needs it. Each client on its own would compile all of them for seconds. */
const sharedValidator: jsonSchemaValidator = {
  getValidator: (schema) => (input) => compile<never>(schema)(input),
};

/** Who answers the questions of a client, and which kinds of questions it can ask. */
export interface Person {
  offers: { form?: Record<string, never>; url?: Record<string, never> };
  answer: (question: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;
}

/** Connects the SDK's own client. Once it has listed the tools, it checks every result against their output schemas. */
export async function connectMcp(
  url: string,
  generation: Generation = '2026-07-28',
  headers: Record<string, string> = {},
  person?: Person,
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: generation === '2026-07-28' ? { pin: generation } : 'legacy' },
      jsonSchemaValidator: sharedValidator,
      ...(person === undefined ? {} : { capabilities: { elicitation: person.offers } }),
    },
  );
  if (person !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => person.answer(params));
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}
