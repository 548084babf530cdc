import { z } from 'zod';
import { errorBody } from '#shared/contract/common.ts';

/** What an MCP server that requires sign-in needs. */
export const neededSignIn = z
  .object({
    resource: z.string().meta({ description: "The server's URL, which tokens are for" }),
    issuer: z.string().nullable().meta({
      description: 'The authorization server; null if the connection names none',
    }),
    scopes: z.array(z.string()).meta({ description: 'What the server asks for' }),
    connection: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The connection to sign in to; null if there is none for this server' }),
    url: z.string().meta({
      description: 'The page of the console where a person creates the connection, or signs in',
    }),
  })
  .meta({ id: 'NeededSignIn' });
export type NeededSignIn = z.infer<typeof neededSignIn>;

/** The response to an import that is refused, with what is needed if the MCP server requires sign-in. */
export const importRefused = z
  .object({ detail: errorBody.shape.detail, needs_sign_in: neededSignIn.optional() })
  .meta({ id: 'ImportRefused', description: 'The body is invalid, or the tools cannot be listed' });
