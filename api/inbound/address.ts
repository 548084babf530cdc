/** What the address of every inbound webhook begins with. */
export const HOOK_PREFIX = '/api/hooks/';

const ADDRESS = /^\/api\/hooks\/(wf_[0-9a-z]{1,64})\/([0-9a-f]{32})$/;
/** An address of the right route that names nothing. */
const NOWHERE = `${HOOK_PREFIX}-/-`;

export interface HookAddress {
  workflowId: string;
  secret: string;
}

/** What stands in place of the secret where it is not shown. No secret has this form. */
const MASK = '*'.repeat(32);

/** The same without the secret, for who must not start runs by it. */
export const maskedHookUrl = (publicUrl: string, workflowId: string): string =>
  hookUrl(publicUrl, { workflowId, secret: MASK });

/** What a webhook is reached at, under the public URL of the service. */
export const hookUrl = (publicUrl: string, { workflowId, secret }: HookAddress): string =>
  `${publicUrl}${HOOK_PREFIX}${workflowId}/${secret}`;

/**
 * The target a request is routed by: its own, except below `/api/hooks/`. There the query goes, and what is not
 * written exactly like an address of a webhook becomes one that names nothing: with a slash too many, an escape or a
 * byte that is no URL, it is refused by the same route, in the same words, as a wrong secret.
 */
export function routedUrl(url: string): string {
  if (!url.startsWith(HOOK_PREFIX)) return url;
  const path = url.split('?', 1)[0] ?? '';
  return ADDRESS.test(path) ? path : NOWHERE;
}

/** Workflow and secret of a target as it was routed; undefined when it is not one of a webhook. */
export function parseHookAddress(url: string): HookAddress | undefined {
  const [, workflowId, secret] = ADDRESS.exec(url) ?? [];
  return workflowId === undefined || secret === undefined ? undefined : { workflowId, secret };
}
