import { type Client, createClient } from '#client/index.ts';
import { apiUrl } from './document.ts';
import { sessionToken } from './session.ts';

/**
 * A method that changes a record must say which state of the record the user knows. `undefined` is for the first save,
 * which creates the record.
 */
type Known<Method> = Method extends (...given: infer Given) => infer Answer
  ? Required<Given> extends readonly [...infer Before, infer Options]
    ? 'ifMatch' extends keyof Options
      ? (...given: [...Before, options: Options & { ifMatch: string | undefined }]) => Answer
      : Method
    : Method
  : Method;

type ConsoleClient = { [Name in keyof Client]: Known<Client[Name]> };

let made: { token: string | undefined; client: ConsoleClient } | undefined;

/** The client of the current session. Get it for each call, because signing in or out creates a new one. */
export function api(): ConsoleClient {
  const token = sessionToken();
  if (made?.token !== token || made === undefined) {
    made = { token, client: createClient({ baseUrl: apiUrl, ...(token && { token }) }) };
  }
  return made.client;
}
