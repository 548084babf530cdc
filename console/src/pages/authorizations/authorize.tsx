import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AuthorizationPreview, BodyOf } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { authorize as text, scopeTexts } from '#console/src/messages/en/authorizations.ts';
import { Message } from '#console/src/messages/message.tsx';
import { SignInFrame } from '#console/src/pages/sign-in/sign-in-frame.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { type AuthorizationRequest, previewQuery } from '#console/src/queries/authorizations.ts';
import { useIdentity } from '#console/src/queries/identity.ts';
import { openedQuery, requestIn } from './request.ts';

type Scope = AuthorizationPreview['scopes'][number];
type Granted = BodyOf<'POST /api/authorizations'>['scopes'];

/** Where a client sends a member who connects it: who asks for what, and the member's answer. */
export function AuthorizePage() {
  const request = requestIn(openedQuery());
  return request === undefined ? (
    <SignInFrame title={text.titleUnknown}>
      <Alert color="danger" role="alert">
        {text.twice}
      </Alert>
    </SignInFrame>
  ) : (
    <Asked request={request} />
  );
}

function Asked({ request }: { request: AuthorizationRequest }) {
  const preview = useQuery(previewQuery(request));
  const { data } = preview;
  const title = data === undefined ? text.titleUnknown : text.title(data.client.name);
  return (
    <SignInFrame title={title}>
      <Loaded query={preview}>
        {(asked) =>
          asked.refusal === null ? (
            <Answer request={request} asked={asked} />
          ) : (
            <Refused asked={asked} detail={asked.refusal.detail} />
          )
        }
      </Loaded>
    </SignInFrame>
  );
}

/** The browser returns to the client only by a click: anyone can register a client and send people to this page. */
function Refused({ asked, detail }: { asked: AuthorizationPreview; detail: string }) {
  return (
    <>
      <Alert color="danger" role="alert" title={text.refused}>
        {detail}
      </Alert>
      <Button variant="default" onClick={() => window.location.assign(asked.deny_url)}>
        {text.back(asked.client.redirect_host)}
      </Button>
    </>
  );
}

function Answer({
  request,
  asked,
}: {
  request: AuthorizationRequest;
  asked: AuthorizationPreview;
}) {
  const [chosen, setChosen] = useState<readonly string[]>(() =>
    asked.scopes.filter(({ selected }) => selected).map(({ scope }) => scope),
  );
  const allow = useAction(() => api().authorizeClient({ request, scopes: chosen as Granted }), {
    changes: [],
    quiet: true,
    onDone: ({ redirect_to: next }) => window.location.assign(next),
  });
  const toggle = (scope: string, on: boolean): void =>
    setChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope));
  return (
    <>
      <Warnings asked={asked} />
      <About asked={asked} />
      <Stack gap="xs" component="fieldset" m={0} p={0} style={{ border: 0 }}>
        <Text component="legend" fw={600} size="sm" mb={4}>
          {text.scopes}
        </Text>
        {asked.scopes.map((one) => (
          <ScopeBox key={one.scope} of={one} chosen={chosen.includes(one.scope)} toggle={toggle} />
        ))}
      </Stack>
      <Dimmed size="xs">
        {asked.scopes.some(({ scope }) => scope === 'decide') ? text.onlyIfTicked : text.never}
      </Dimmed>
      {allow.error !== null && <Failure error={allow.error} />}
      <Group grow>
        <Button
          variant="default"
          disabled={allow.isPending}
          onClick={() => window.location.assign(asked.deny_url)}
        >
          {text.deny}
        </Button>
        <Button
          loading={allow.isPending || allow.isSuccess}
          onClick={() => allow.mutate(undefined)}
        >
          {text.allow}
        </Button>
      </Group>
      {allow.isSuccess && (
        <Text size="sm" role="status">
          {text.sent}
        </Text>
      )}
    </>
  );
}

function Warnings({ asked: { client } }: { asked: AuthorizationPreview }) {
  if (client.verified) {
    return (
      <Text size="sm">
        <Message text={text.verified} values={{ host: client.host }} />
        {isLocal(client.redirect_host) && ` ${text.local}`}
      </Text>
    );
  }
  return (
    <Alert color="warning" title={text.unverified.title}>
      <Message text={text.unverified.about} values={{ name: client.name }} />
    </Alert>
  );
}

function About({ asked: { client, workspace } }: { asked: AuthorizationPreview }) {
  const { name } = useIdentity();
  const to = client.redirect_host;
  const facts: [string, string | null][] = [
    [text.host, client.verified ? client.host : null],
    [text.returnsTo, isLocal(to) ? text.thisComputer(to) : to],
    [text.workspace, workspace.name],
    [text.as, name],
  ];
  return (
    <Stack component="dl" gap={6} m={0}>
      {facts.map(
        ([label, value]) =>
          value !== null && (
            <Group key={label} gap="xs" wrap="nowrap" align="flex-start">
              <Text component="dt" size="sm" c="dimmed" w={120} flex="none">
                {label}
              </Text>
              <Text component="dd" size="sm" m={0} miw={0}>
                <UserText>{value}</UserText>
              </Text>
            </Group>
          ),
      )}
    </Stack>
  );
}

const isLocal = (host: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(host);

function ScopeBox({
  of: { scope, capabilities, required },
  chosen,
  toggle,
}: {
  of: Scope;
  chosen: boolean;
  toggle: (scope: string, on: boolean) => void;
}) {
  const notHeld = capabilities.length === 0;
  const about = required
    ? text.required
    : notHeld
      ? text.notHeld
      : scope === 'decide'
        ? text.decides
        : scope === 'run'
          ? text.runs
          : undefined;
  return (
    <Checkbox
      label={scopeTexts[scope]}
      description={about}
      checked={chosen}
      disabled={required || notHeld}
      onChange={(event) => toggle(scope, event.currentTarget.checked)}
    />
  );
}
