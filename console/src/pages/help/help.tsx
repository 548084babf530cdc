import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { help as text } from '#console/src/messages/en/help.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { AllShortcuts } from '#console/src/shell/palette/shortcut-lists.tsx';
import { type GuideGroup, guides } from './guides.ts';

const inNewTab = { target: '_blank', rel: 'noreferrer' } as const;

/** The guides by the questions that they answer, the keyboard shortcuts, and the version. */
export function HelpPage() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => api().getHealth({ signal }),
    staleTime: 'static',
  });
  return (
    <Page
      title={text.title}
      about={health.data === undefined ? '\u00A0' : text.version(health.data.version)}
      actions={
        <Group gap="xs">
          <Button component="a" variant="default" href="/docs/guide/" {...inNewTab}>
            {text.documentation}
          </Button>
          <Button component="a" variant="default" href="/docs" {...inNewTab}>
            {text.reference}
          </Button>
        </Group>
      }
    >
      <Section title={text.guides}>
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
          {guides.map((group) => (
            <Guides key={group.title} group={group} />
          ))}
        </SimpleGrid>
      </Section>
      <Section title={text.keys}>
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
          <AllShortcuts />
        </SimpleGrid>
      </Section>
    </Page>
  );
}

const Guides = ({ group }: { group: GuideGroup }) => (
  <Stack gap="xs">
    <Title order={3} size="sm">
      {group.title}
    </Title>
    {group.guides.map(({ href, question }) => (
      <Text key={href} size="sm">
        <Anchor href={href} inherit {...inNewTab}>
          {question}
        </Anchor>
      </Text>
    ))}
  </Stack>
);
