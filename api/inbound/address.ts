import { CALLBACK_PREFIX } from '#shared/values/callback-address.ts';

/** The prefix of every inbound webhook's address. */
const HOOK_PREFIX = '/api/hooks/';

const ADDRESS = /^\/api\/hooks\/(wf_[0-9a-z]{1,64})\/([0-9a-f]{32})$/;
/** An address that matches the route but no webhook. */
const NOWHERE = `${HOOK_PREFIX}-/-`;

export interface HookAddress {
  workflowId: string;
  secret: string;
}

/** Replaces the secret where it is hidden. No secret has this form. */
const MASK = '*'.repeat(32);

/** The address without the secret, for members who must not start runs with it. */
export const maskedHookUrl = (publicUrl: string, workflowId: string): string =>
  hookUrl(publicUrl, { workflowId, secret: MASK });

/** The webhook's address, under the public URL of the service. */
export const hookUrl = (publicUrl: string, { workflowId, secret }: HookAddress): string =>
  `${publicUrl}${HOOK_PREFIX}${workflowId}/${secret}`;

/**
 * The target that routes a request: its own, except under `/api/hooks/` and `/api/callbacks/`. There, the query is removed,
 * and a target that is not written exactly like an address becomes one that matches none: an extra slash, an escape or an
 * invalid byte gets the same response from the same route as a wrong secret.
 */
export function routedUrl(url: string): string {
  const isHook = url.startsWith(HOOK_PREFIX);
  if (!isHook && !url.startsWith(CALLBACK_PREFIX)) return url;
  const path = url.split('?', 1)[0] ?? '';
  if (isHook) return ADDRESS.test(path) ? path : NOWHERE;
  return callbackToken(path) === undefined ? `${CALLBACK_PREFIX}-` : path;
}

/** Whether a target is below addresses that are credentials themselves. */
export const isOwnCredential = (url: string): boolean =>
  url.startsWith(HOOK_PREFIX) || url.startsWith(CALLBACK_PREFIX);

const CALLBACK = /^\/api\/callbacks\/([A-Za-z0-9_.-]{1,900})$/;

/** The token of a routed target; undefined if it is not the address of a callback. */
export const callbackToken = (url: string): string | undefined => CALLBACK.exec(url)?.[1];

/** Workflow and secret of a routed target; undefined if it is not a webhook address. */
export function parseHookAddress(url: string): HookAddress | undefined {
  const [, workflowId, secret] = ADDRESS.exec(url) ?? [];
  return workflowId === undefined || secret === undefined ? undefined : { workflowId, secret };
}
