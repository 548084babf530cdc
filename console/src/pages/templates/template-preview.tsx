import { List, Modal, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import type { Template } from '#client/index.ts';
import { templatePreview as text } from '#console/src/messages/en/templates.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';

const GraphView = lazyPart(() => import('#console/src/graph/graph-view.tsx'), 'GraphView');
const GRAPH_HEIGHT = 320;

/** The whole template: its graph, its checks and its sample input. */
export function TemplatePreview({
  template,
  opened,
  onClose,
}: {
  template: Template;
  opened: boolean;
  onClose: () => void;
}) {
  const checks = template.checks.map(nameOf).filter((name) => name !== undefined);
  return (
    <Modal opened={opened} onClose={onClose} size="xl" title={<UserText>{template.name}</UserText>}>
      <Stack gap="md">
        <Text size="sm">
          <UserText>{template.description}</UserText>
        </Text>
        <Suspense fallback={<Skeleton h={GRAPH_HEIGHT} />}>
          <GraphView graph={template.graph} height={GRAPH_HEIGHT} />
        </Suspense>
        {checks.length > 0 && (
          <div>
            <Title order={3} size="h6">
              {text.checks}
            </Title>
            <List size="sm">
              {checks.map((name) => (
                <List.Item key={name}>
                  <UserText>{name}</UserText>
                </List.Item>
              ))}
            </List>
          </div>
        )}
        {template.limits !== null && (
          <div>
            <Title order={3} size="h6">
              {text.limits}
            </Title>
            <JsonView value={template.limits} what={text.theLimits} />
          </div>
        )}
        <div>
          <Title order={3} size="h6">
            {text.sampleInput}
          </Title>
          <JsonView value={template.sample_input} what={text.theSampleInput} />
        </div>
      </Stack>
    </Modal>
  );
}

/** Stored checks are not validated. */
function nameOf(check: unknown): string | undefined {
  if (typeof check !== 'object' || check === null || !('name' in check)) return undefined;
  return typeof check.name === 'string' ? check.name : undefined;
}
