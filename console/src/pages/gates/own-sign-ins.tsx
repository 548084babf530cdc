import { Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { inbox as text } from '#console/src/messages/en/approvals.ts';
import { runWaits } from '#console/src/messages/en/workflows/events.ts';
import { Message } from '#console/src/messages/message.tsx';
import { SignInButton } from '#console/src/parts/connections/sign-in-button.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { signInsQuery } from '#console/src/queries/events.ts';
import { useIdentity } from '#console/src/queries/identity.ts';

/** The steps that wait until the member signs in. Renders nothing without any, or for a key without a member. */
export function OwnSignIns() {
  const { id } = useIdentity();
  return id === null ? null : <SignIns memberId={id} />;
}

/** The maximum number shown. */
const SHOWN = 5;

function SignIns({ memberId }: { memberId: string }) {
  const waits = useQuery(signInsQuery(memberId)).data?.waits ?? [];
  if (waits.length === 0) return null;
  return (
    <Paper withBorder px="md" py="xs" component="section" aria-label={text.signIns}>
      <Stack gap="xs">
        {waits.slice(0, SHOWN).map((wait) => {
          const { run_id: run, step_key: step, label, workflow_name, connection } = wait;
          if (connection === null) return null;
          const named = (
            <RunLink run={run} step={step} underline="always">
              <UserText>{`${workflow_name} · ${label}`}</UserText>
            </RunLink>
          );
          const values = { step: named, connection: <UserText>{connection.name}</UserText> };
          const again = connection.reason === 'needs_sign_in';
          return (
            <Group key={`${run} ${step}`} gap="xs">
              <Text size="sm" component="div">
                <Message
                  text={again ? runWaits.ownSignInAgain : runWaits.ownSignIn}
                  values={values}
                />
              </Text>
              <SignInButton connection={{ ...connection, owner: 'member' }} />
            </Group>
          );
        })}
        {waits.length > SHOWN && <Text size="sm">{runWaits.more(waits.length - SHOWN)}</Text>}
      </Stack>
    </Paper>
  );
}
