/** The prefix of the address of every callback. */
export const CALLBACK_PREFIX = '/api/callbacks/';

/** The address for a token, under the public URL of the service. */
export const callbackAddress = (publicUrl: string, token: string): string =>
  `${publicUrl}${CALLBACK_PREFIX}${token}`;
