import { useMemo } from 'react';
import type { Webhook, Workflow } from '#client/index.ts';
import { useChecker } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import { curlOf, exampleEvent, signedCurlOf } from './webhook-curl.ts';

/** The command that sends an example event; undefined if the member cannot see the URL. */
export function useExampleCommand(
  workflow: Workflow,
  webhook: Webhook | undefined,
): string | undefined {
  const checker = useChecker();
  const field = webhook?.event_id_field ?? '';
  const body = useMemo(
    () => exampleEvent(field, checker?.inputKeys(workflow.graph) ?? []),
    [checker, field, workflow.graph],
  );
  const url = webhook?.url ?? null;
  // The secret in it is masked for members who must not start runs with it.
  if (url === null || url.endsWith('*')) return undefined;
  return webhook?.require_signature === true ? signedCurlOf(url, body) : curlOf(url, body);
}
