/** Where services send people back after they have signed in. */
export const CALLBACK_PATH = '/api/connections/callback';

/** The page on which each sign-in ends. */
export const CONNECTIONS_PAGE = '/connections';

/** Where a member signs in to a connection: a path of the console. */
export const connectionPage = (id: string): string =>
  `${CONNECTIONS_PAGE}?connection=${encodeURIComponent(id)}`;

/**
 * The redirect URI of a connection. A code that another service has sent back must be recognized: an issuer that names
 * itself can share an address with others, and every other connection has its own.
 */
export const callbackUrl = (
  publicUrl: string,
  { id, namesIssuer }: { id: string; namesIssuer: boolean },
): string => `${publicUrl}${CALLBACK_PATH}${namesIssuer ? '' : `/${id}`}`;

/** Where authorization servers read about this service as their client. */
export const CLIENT_DOCUMENT_PATH = '/api/connections/client-metadata';

/** The document with the redirect URI of a connection. Its address is the client's id. */
export const clientDocumentUrl = (
  publicUrl: string,
  { id, namesIssuer }: { id: string; namesIssuer: boolean },
): string => `${publicUrl}${CLIENT_DOCUMENT_PATH}${namesIssuer ? '' : `/${id}`}`;
