import { Code, PasswordInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AlertSettings } from '#client/index.ts';
import { alertsForm as text } from '#console/src/messages/en/workspace/alerts.ts';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { connectionsQuery } from '#console/src/queries/workspace.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';
import { SLACK_INTERACTIONS_PATH, SLACK_SCOPES } from '#shared/contract/slack/settings.ts';

type Slack = AlertSettings['slack'];

const EMPTY = { connection: '', channel: '', signing_secret: '' };

/** Where the workspace asks for decisions in Slack, and what the Slack app needs for it. */
export function SlackInputs({
  value,
  onChange,
}: {
  value: Slack;
  onChange: (value: Slack) => void;
}) {
  return (
    <Stack gap="sm" align="stretch">
      <Switch
        label={text.slack}
        description={text.slackAbout}
        checked={value !== null}
        onChange={({ currentTarget: { checked } }) => onChange(checked ? EMPTY : null)}
      />
      {value !== null && <SlackFields value={value} onChange={onChange} />}
    </Stack>
  );
}

function SlackFields({
  value,
  onChange,
}: {
  value: NonNullable<Slack>;
  onChange: (value: Slack) => void;
}) {
  const { data: connections = [] } = useQuery(connectionsQuery);
  const usable = connections.filter(
    ({ preset, owner }) => preset === 'slack' && owner === 'workspace',
  );
  const callback = usable.find(({ name }) => name === value.connection)?.callback_url ?? undefined;
  const change = (part: object): void => onChange({ ...value, ...part });
  const url = window.location.origin + SLACK_INTERACTIONS_PATH;
  return (
    <>
      <Text size="sm" fw={500}>
        {text.slackManifest}
      </Text>
      <Dimmed size="xs">{text.slackManifestAbout}</Dimmed>
      <Snippet text={manifestOf(url, callback)} what={text.slackManifest} />
      <Text size="sm">
        {text.slackUrl}: <Code style={{ overflowWrap: 'anywhere' }}>{url}</Code>
      </Text>
      <Select
        label={text.slackConnection}
        description={usable.length === 0 ? text.slackConnectionEmpty : text.slackConnectionAbout}
        required
        data={[...new Set([...usable.map(({ name }) => name), value.connection])].filter(
          (name) => name !== '',
        )}
        value={value.connection === '' ? null : value.connection}
        onChange={(connection) => change({ connection: connection ?? '' })}
      />
      <TextInput
        label={text.slackChannel}
        description={text.slackChannelAbout}
        placeholder="C0123456789"
        required
        maxLength={32}
        value={value.channel}
        onChange={({ currentTarget }) => change({ channel: currentTarget.value.trim() })}
      />
      <PasswordInput
        label={text.slackSecret}
        description={text.slackSecretAbout}
        required
        autoComplete="off"
        maxLength={128}
        value={value.signing_secret}
        onChange={({ currentTarget }) => change({ signing_secret: currentTarget.value.trim() })}
      />
    </>
  );
}

/** What Slack creates an app from. */
const manifestOf = (url: string, callback: string | undefined): string =>
  JSON.stringify(
    {
      display_information: { name: PRODUCT_NAME },
      features: { bot_user: { display_name: PRODUCT_NAME, always_online: true } },
      oauth_config: {
        redirect_urls: [callback ?? `${window.location.origin}/api/connections/callback`],
        scopes: { bot: [...SLACK_SCOPES] },
      },
      settings: {
        interactivity: { is_enabled: true, request_url: url },
        org_deploy_enabled: false,
        socket_mode_enabled: false,
      },
    },
    null,
    2,
  );
