import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Template } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { templateCard as text } from '#console/src/messages/en/templates.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Miniature } from './miniature.tsx';
import { TemplatePreview } from './template-preview.tsx';
import { useTemplateActions } from './use-template.ts';

/** A template with its picture, and one click to run an example. */
export function TemplateCard({ template }: { template: Template }) {
  const { make, makeAndRun, remove } = useTemplateActions(template);
  const [previewed, { open, close }] = useDisclosure(false);
  const busy = make?.isPending === true || makeAndRun?.isPending === true;
  return (
    <Card withBorder component="article" aria-label={template.name}>
      <Card.Section p="sm" bg="var(--mantine-color-default-hover)">
        <Miniature graph={template.graph} />
      </Card.Section>
      <Stack gap="xs" mt="sm" justify="space-between" flex={1}>
        <div>
          <Title order={3} size="h5">
            <UserText>{template.name}</UserText>
          </Title>
          <Text size="sm" c="dimmed" lineClamp={3}>
            <UserText>{template.description}</UserText>
          </Text>
        </div>
        <Group gap="xs">
          {makeAndRun !== undefined && (
            <ActionButton size="xs" action={makeAndRun} disabled={busy} variant="filled">
              {text.useAndRun}
            </ActionButton>
          )}
          {make !== undefined && (
            <ActionButton size="xs" action={make} disabled={busy}>
              {text.use}
            </ActionButton>
          )}
          <Button size="xs" variant="subtle" onClick={open}>
            {text.preview}
          </Button>
          <RemoveButton remove={remove} template={template} />
        </Group>
      </Stack>
      <TemplatePreview template={template} opened={previewed} onClose={close} />
    </Card>
  );
}

function RemoveButton({
  remove,
  template,
}: {
  remove: ReturnType<typeof useTemplateActions>['remove'];
  template: Template;
}) {
  return (
    remove !== undefined && (
      <ActionButton
        size="xs"
        action={remove}
        input={template}
        ask={{
          title: text.deleteTitle(template.name),
          consequence: text.deleteConsequence,
          confirm: text.deleteConfirm,
        }}
        variant="subtle"
      >
        {words.delete}
      </ActionButton>
    )
  );
}
