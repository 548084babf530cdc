/** The prefix of every inbound webhook's address. */
export const HOOK_PREFIX = '/api/hooks/';

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
 * The target that routes a request: its own, except under `/api/hooks/`. There, the query is removed, and a target that
 * is not written exactly like a webhook's address becomes one that matches none: an extra slash, an escape or an
 * invalid byte gets the same response from the same route as a wrong secret.
 */
export function routedUrl(url: string): string {
  if (!url.startsWith(HOOK_PREFIX)) return url;
  const path = url.split('?', 1)[0] ?? '';
  return ADDRESS.test(path) ? path : NOWHERE;
}

/** Workflow and secret of a routed target; undefined if it is not a webhook address. */
export function parseHookAddress(url: string): HookAddress | undefined {
  const [, workflowId, secret] = ADDRESS.exec(url) ?? [];
  return workflowId === undefined || secret === undefined ? undefined : { workflowId, secret };
}
