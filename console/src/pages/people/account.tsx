import { Alert, Code, List, Text } from '@mantine/core';
import { Facts } from '../../parts/data/facts.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Tag } from '../../parts/tag.tsx';
import { useIdentity } from '../../queries/identity.ts';
import { capabilityNames, capabilityTexts } from './capability-texts.ts';
import { PasswordForm } from './password-form.tsx';
import { sentenceCase } from '../../parts/text/sentence-case.ts';

/** The user's own profile, permissions and password. */
export function AccountPage() {
  const identity = useIdentity();
  return (
    <Page title="Account" about="Your profile, permissions and password.">
      <Section title="Profile">
        <Facts
          of={[
            [
              'Name',
              identity.name === null ? undefined : <UserText key="name">{identity.name}</UserText>,
            ],
            [
              'Email',
              identity.email === null ? undefined : (
                <UserText key="email">{identity.email}</UserText>
              ),
            ],
            ['Role', sentenceCase(identity.role)],
          ]}
        />
        {identity.id !== null && (
          <Text size="sm">
            <TextLink to="/members/$memberId" params={{ memberId: identity.id }}>
              View your activity
            </TextLink>
          </Text>
        )}
        {identity.credential === 'none' && (
          <Alert title="Open mode">
            Sign-in is off: everyone who can reach the service acts as the owner. To require
            sign-in, set AUTH_MODE=required.
          </Alert>
        )}
      </Section>
      <Section title="Permissions">
        <Held />
      </Section>
      {identity.credential === 'session' && (
        <Section title="Password">
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
            <Tag color={capabilities[name] ? 'teal' : 'gray'} w={104} mr="xs">
              {capabilities[name] ? 'Allowed' : 'Not allowed'}
            </Tag>
            {capabilityTexts[name]} <Code>{name}</Code>
          </List.Item>
        ))}
      </List>
      {Object.values(capabilities).includes(false) && (
        <Text size="xs" c="dimmed">
          The console hides actions that you are not allowed to use. A member with the
          manage_members permission can change your permissions.
        </Text>
      )}
    </>
  );
}
