import { Group, Paper, Stack, Text } from '@mantine/core';
import { IconHourglass } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { runWaits as text } from '#console/src/messages/en/workflows/events.ts';
import { Message } from '#console/src/messages/message.tsx';
import { SignInButton } from '#console/src/parts/connections/sign-in-button.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';

type Waiting = Run['waiting'][number];

/** The maximum number of waits shown. */
const SHOWN = 5;

/** What the steps of a run wait for, with the time that is left. */
export function OpenWaits({ run: { id, waiting } }: { run: Run }) {
  const me = useIdentity().id;
  const now = useMoment(waiting.some(({ until }) => until !== null));
  if (waiting.length === 0) return null;
  return (
    <Paper withBorder px="md" py="xs" component="section" aria-label={text.label}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <IconHourglass size={18} aria-hidden style={{ flexShrink: 0 }} />
        <Stack gap={4} miw={0}>
          {waiting.slice(0, SHOWN).map((wait) => (
            <Group key={wait.step_key} gap="xs">
              <Text size="sm" component="div">
                <WaitText runId={id} wait={wait} />
                {wait.until !== null && ` (${leftText(Date.parse(wait.until) - now)})`}
              </Text>
              {wait.connection?.member_id === me && (
                <SignInButton connection={{ ...wait.connection, owner: 'member' }} />
              )}
            </Group>
          ))}
          {waiting.length > SHOWN && <Text size="sm">{text.more(waiting.length - SHOWN)}</Text>}
        </Stack>
      </Group>
    </Paper>
  );
}

const leftText = (ms: number): string => (ms <= 0 ? text.due : text.left(durationText(ms)));

function WaitText({ runId, wait }: { runId: string; wait: Waiting }) {
  const me = useIdentity().id;
  const step = (
    <RunLink run={runId} step={wait.step_key} underline="always">
      <UserText>{wait.label}</UserText>
    </RunLink>
  );
  if (wait.connection !== null) {
    const { name, reason, member_id, member_name } = wait.connection;
    const values = { step, connection: <UserText>{name}</UserText> };
    if (member_id === me) {
      const own = reason === 'needs_sign_in' ? text.ownSignInAgain : text.ownSignIn;
      return <Message text={own} values={values} />;
    }
    const member = <UserText>{member_name}</UserText>;
    return <Message text={text.signInOf} values={{ ...values, member }} />;
  }
  if (wait.limit !== null) {
    const { name, key } = wait.limit;
    const values = { step, name: <UserText>{name}</UserText>, since: <When at={wait.since} /> };
    if (key === null) return <Message text={text.call} values={values} />;
    return <Message text={text.callOf} values={{ ...values, key: <UserText>{key}</UserText> }} />;
  }
  const until = wait.until === null ? '' : <When at={wait.until} />;
  if (wait.for === 'time') return <Message text={text.time} values={{ step, until }} />;
  if (wait.for === 'callback') {
    if (wait.until === null) return <Message text={text.callback} values={{ step }} />;
    return <Message text={text.callbackUntil} values={{ step, until }} />;
  }
  const events = wait.events.map((name, at) => (
    <span key={at}>
      {at > 0 && ', '}
      <TextLink to="/events" search={{ name }} underline="always">
        {name}
      </TextLink>
    </span>
  ));
  if (wait.until === null) return <Message text={text.event} values={{ step, events }} />;
  return <Message text={text.eventUntil} values={{ step, events, until }} />;
}
