import { Alert, Code, List, Text } from '@mantine/core';
import { Facts } from '../../parts/facts.tsx';
import { UserText } from '../../parts/user-text.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Tag } from '../../parts/tag.tsx';
import { useIdentity } from '../../queries/identity.ts';
import { capabilityNames, capabilityTexts } from './capability-texts.ts';
import { PasswordForm } from './password-form.tsx';

/** Who I am to the service, what I may do, and my password. */
export function AccountPage() {
  const identity = useIdentity();
  return (
    <Page title="Account" about="Who you are here, and what you may do.">
      <Section title="Profile">
        <Facts
          of={[
            [
              'Name',
              identity.name === null ? undefined : <UserText key="name">{identity.name}</UserText>,
            ],
            [
              'E-mail',
              identity.email === null ? undefined : (
                <UserText key="email">{identity.email}</UserText>
              ),
            ],
            ['Role', identity.role],
          ]}
        />
        {identity.id !== null && (
          <Text size="sm">
            <TextLink to="/members/$memberId" params={{ memberId: identity.id }}>
              What you did
            </TextLink>
          </Text>
        )}
        {identity.credential === 'none' && (
          <Alert title="Open mode">
            Nobody signs in here: whoever reaches the service acts as its owner. With
            AUTH_MODE=required everybody is asked who they are.
          </Alert>
        )}
      </Section>
      <Section title="What you may do">
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
            <Tag color={capabilities[name] ? 'teal' : 'gray'} w={72} mr="xs">
              {capabilities[name] ? 'may' : 'may not'}
            </Tag>
            {capabilityTexts[name]} <Code>{name}</Code>
          </List.Item>
        ))}
      </List>
      {Object.values(capabilities).includes(false) && (
        <Text size="xs" c="dimmed">
          What you may not do is not offered. A member with manage_members can change that.
        </Text>
      )}
    </>
  );
}
