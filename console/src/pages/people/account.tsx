import { Alert, Box, Code, Group, List, Text } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';
import { account as text } from '#console/src/messages/en/people/account.ts';
import { capabilityTexts, permission } from '#console/src/messages/en/people/permissions.ts';
import { roleNames } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { ClientsSection } from '#console/src/pages/authorizations/clients.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';
import { capabilityNames } from './capability-texts.ts';
import { PasswordForm } from './password-form.tsx';
import { SlackAccountSection } from './slack-account.tsx';

/** The user's own profile, permissions and password. */
export function AccountPage() {
  const identity = useIdentity();
  return (
    <Page title={text.title} about={text.about}>
      <Section title={people.profile}>
        <Facts
          of={[
            [
              words.name,
              identity.name === null ? undefined : <UserText key="name">{identity.name}</UserText>,
            ],
            [
              words.email,
              identity.email === null ? undefined : (
                <UserText key="email">{identity.email}</UserText>
              ),
            ],
            [people.role, roleNames[identity.role]],
          ]}
        />
        {identity.id !== null && (
          <Text size="sm">
            <TextLink to="/members/$memberId" params={{ memberId: identity.id }}>
              {text.activity}
            </TextLink>
          </Text>
        )}
        {identity.credential === 'none' && (
          <Alert title={text.openMode.title}>{text.openMode.about}</Alert>
        )}
      </Section>
      {identity.id !== null && identity.credential !== 'api_key' && <SlackAccountSection />}
      <Section title={people.permissions}>
        <Held />
      </Section>
      {identity.id !== null && <ClientsSection of="me" />}
      {identity.credential === 'session' && (
        <Section title={text.password}>
          <PasswordForm />
        </Section>
      )}
    </Page>
  );
}

function Held() {
  const { capabilities } = useIdentity();
  return (
    <>
      <List size="sm" spacing={6} listStyleType="none">
        {capabilityNames.map((name) => (
          <List.Item key={name}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <Box w={104} flex="none">
                <Tag color={capabilities[name] ? 'success' : 'gray'}>
                  {capabilities[name] ? permission.allowed : permission.notAllowed}
                </Tag>
              </Box>
              <span>
                {capabilityTexts[name]} <Code>{name}</Code>
              </span>
            </Group>
          </List.Item>
        ))}
      </List>
      {Object.values(capabilities).includes(false) && <Dimmed size="xs">{text.hidden}</Dimmed>}
    </>
  );
}
