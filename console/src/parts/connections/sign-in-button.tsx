import { Button } from '@mantine/core';
import type { OAuthConnection } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { connections as text } from '#console/src/messages/en/workspace/connections.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { useMay } from '#console/src/queries/identity.ts';

/** Who can sign in to a connection: to one's own account, or with this capability to that of the workspace. */
export const signsIn = (owner: OAuthConnection['owner']): 'manage_workspace' | 'run_workflows' =>
  owner === 'workspace' ? 'manage_workspace' : 'run_workflows';

/** Leads to the service, where a person signs in. Nothing for members who cannot. */
export function SignInButton({
  connection: { id, name, owner },
  size = 'compact-xs',
}: {
  connection: Pick<OAuthConnection, 'id' | 'name' | 'owner'>;
  size?: 'compact-xs' | 'sm';
}) {
  const may = useMay(signsIn(owner));
  const signIn = useAction(() => api().authorizeConnection(id), {
    changes: [],
    onDone: ({ authorization_url: url }) => window.location.assign(url),
  });
  if (!may) return null;
  return (
    <Button
      size={size}
      loading={signIn.isPending}
      onClick={() => signIn.mutate(undefined)}
      aria-label={text.signInTo(name)}
    >
      {size === 'sm' ? text.signInTo(name) : text.signIn}
    </Button>
  );
}
