import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { OwnSlackAccount } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { slackAccount as text } from '#console/src/messages/en/people/account.ts';
import { Message } from '#console/src/messages/message.tsx';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { slackAccountKey, slackAccountQuery } from '#console/src/queries/slack.ts';

/** The account that decides as the user in Slack, and one that wants to. Renders nothing without any. */
export function SlackAccountSection() {
  const { confirmed = null, asked = null } = useQuery(slackAccountQuery).data ?? {};
  if (confirmed === null && asked === null) return null;
  return (
    <Section title={text.title}>
      <Stack gap="sm">
        {asked !== null && <Asked account={asked} replaces={confirmed !== null} />}
        {confirmed !== null && <Confirmed account={confirmed} />}
      </Stack>
    </Section>
  );
}

const nameOf = ({ name, user_id }: { name: string; user_id: string }) => (
  <>
    <UserText>{name}</UserText> ({user_id})
  </>
);

function Asked({
  account,
  replaces,
}: {
  account: NonNullable<OwnSlackAccount['asked']>;
  replaces: boolean;
}) {
  const { team_id, user_id } = account;
  const confirm = useAction(() => api().confirmSlackAccount({ team_id, user_id }), {
    changes: [slackAccountKey],
    done: text.confirmed,
  });
  return (
    <Alert title={text.askedTitle}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" component="div">
          <Message text={text.asked} values={{ name: nameOf(account) }} />{' '}
          {replaces && text.replaces}
        </Text>
        <ActionButton size="xs" action={confirm}>
          {text.confirm}
        </ActionButton>
      </Stack>
    </Alert>
  );
}

function Confirmed({ account }: { account: NonNullable<OwnSlackAccount['confirmed']> }) {
  const remove = useAction(() => api().removeSlackAccount(), {
    changes: [slackAccountKey],
    done: text.removed,
  });
  const values = { name: nameOf(account), time: <When at={account.confirmed_at} ago /> };
  return (
    <Group gap="sm">
      <Text size="sm" component="div">
        <Message text={text.decides} values={values} />
      </Text>
      <ActionButton size="compact-xs" action={remove} ask={text.confirmRemove}>
        {text.remove}
      </ActionButton>
    </Group>
  );
}
