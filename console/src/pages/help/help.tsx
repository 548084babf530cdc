import { Button, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { help as text } from '#console/src/messages/en/help.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { AllShortcuts } from '#console/src/shell/palette/shortcut-lists.tsx';
import { type GuideGroup, guideMapQuery } from './guides.ts';

/** The guides by the questions that they answer, the keyboard shortcuts, and the version. */
export function HelpPage() {
  const map = useQuery(guideMapQuery);
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
        <Button component="a" variant="default" href="/docs" target="_blank" rel="noreferrer">
          {text.reference}
        </Button>
      }
    >
      <Section title={text.guides}>
        <Loaded query={map}>
          {(groups) => (
            <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
              {groups.map((group) => (
                <Group key={group.title} group={group} />
              ))}
            </SimpleGrid>
          )}
        </Loaded>
      </Section>
      <Section title={text.keys}>
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
          <AllShortcuts />
        </SimpleGrid>
      </Section>
    </Page>
  );
}

const Group = ({ group: { title, guides } }: { group: GuideGroup }) => (
  <Stack gap="xs">
    <Title order={3} size="sm">
      {title}
    </Title>
    {guides.map(({ name, question }) => (
      <Text key={name} size="sm">
        <TextLink to="/help/$guide" params={{ guide: name }}>
          {question}
        </TextLink>
      </Text>
    ))}
  </Stack>
);
