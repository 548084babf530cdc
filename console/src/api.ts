import { type Client, createClient } from '../../client/index.ts';
import { apiUrl } from './document.ts';
import { sessionToken } from './session.ts';

let made: { token: string | undefined; client: Client } | undefined;

/** The client of the current session. Get it for each call: signing in or out creates another. */
export function api(): Client {
  const token = sessionToken();
  if (made?.token !== token || made === undefined) {
    made = { token, client: createClient({ baseUrl: apiUrl, ...(token && { token }) }) };
  }
  return made.client;
}
