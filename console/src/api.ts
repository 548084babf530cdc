import { type Client, createClient } from '../../client/index.ts';
import { apiUrl } from './document.ts';
import { sessionToken } from './session.ts';

let made: { token: string | undefined; client: Client } | undefined;

/** The client of whoever is signed in now. Ask for it at each call: signing in or out makes another. */
export function api(): Client {
  const token = sessionToken();
  if (made?.token !== token || made === undefined) {
    made = { token, client: createClient({ baseUrl: apiUrl, ...(token && { token }) }) };
  }
  return made.client;
}
