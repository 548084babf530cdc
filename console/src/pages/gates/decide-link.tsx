import { Alert, Box, Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { createClient, type LinkDecision, type OpenedLink } from '#client/index.ts';
import { apiUrl } from '#console/src/document.ts';
import { decide as text } from '#console/src/messages/en/decide.ts';
import { product } from '#console/src/messages/en/parts/page.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Logo } from '#console/src/parts/logo.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { DecideLinkForm } from './decide-link-form.tsx';

/** Without the session of this browser, which may be of another member: the token is the credential. */
const client = createClient({ baseUrl: apiUrl });

/** The page of a link in an email, without signing in. The token is in the fragment, which no server gets. */
export function DecideLinkPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [made, setMade] = useState<LinkDecision>();
  const link = useQuery({
    queryKey: ['decide-link', token],
    queryFn: ({ signal }) => client.openDecideLink(token, { signal }),
    enabled: token !== '' && made === undefined,
    retry: false,
    staleTime: Infinity,
  });
  if (token === '') {
    return (
      <Frame title={text.noToken}>
        <Text>{text.noTokenAbout}</Text>
      </Frame>
    );
  }
  if (made !== undefined) {
    return (
      <Frame title={text.done[made.decision]}>
        <Text role="status">{text.doneAbout[made.status]}</Text>
      </Frame>
    );
  }
  if (link.data === undefined) {
    return link.error === null ? (
      <Frame title={text.loading} />
    ) : (
      <Frame title={text.ended}>
        <Failure error={link.error} onRetry={() => void link.refetch()} />
        <TextLink to="/login" underline="always">
          {text.signIn}
        </TextLink>
      </Frame>
    );
  }
  return (
    <Frame title={link.data.gate.title}>
      <Facts link={link.data} />
      <DecideLinkForm
        key={link.dataUpdatedAt}
        link={link.data}
        send={(answer) => client.decideByLink({ token, ...answer })}
        onDecided={setMade}
      />
    </Frame>
  );
}

function Facts({ link }: { link: OpenedLink }) {
  const { gate, member, workflow, workspace, approvals } = link;
  const { required = 1, expires_at: deadline } = gate;
  const name = (value: string) => (
    <strong>
      <UserText>{value}</UserText>
    </strong>
  );
  return (
    <Stack gap="xs">
      {link.changed && (
        <Alert color="warning" role="alert">
          {text.changed}
        </Alert>
      )}
      <Text component="div">
        <Message
          text={text.of}
          values={{ workflow: name(workflow.name), workspace: name(workspace.name) }}
        />
      </Text>
      {gate.kind === 'human_gate' && (
        <Box fz="lg">
          <UserText>{gate.prompt}</UserText>
        </Box>
      )}
      <Dimmed>
        <Message text={text.as} values={{ name: name(member.name) }} />{' '}
        <Message text={text.until} values={{ at: <When key="until" at={link.expires_at} /> }} />
      </Dimmed>
      {deadline !== undefined && (
        <Text size="sm" component="div">
          <Message text={text.deadline} values={{ at: <When key="deadline" at={deadline} /> }} />
        </Text>
      )}
      {required > 1 && (
        <Text size="sm" fw={600}>
          {text.approvals(approvals, required)}
        </Text>
      )}
    </Stack>
  );
}

function Frame({ title, children }: { title: string; children?: ReactNode }) {
  useDocumentTitle(product.titleOf(text.title));
  return (
    <Center component="main" mih="100vh" p={{ base: 0, sm: 'md' }}>
      <Paper withBorder p={{ base: 'md', sm: 'xl' }} w="100%" maw={720}>
        <Stack gap="md">
          <Group gap="xs" fw={600}>
            <Logo size={28} />
            {product.name}
          </Group>
          <Title order={1} size="h3">
            <UserText>{title}</UserText>
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
