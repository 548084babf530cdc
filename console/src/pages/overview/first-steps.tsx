import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { firstSteps as text } from '#console/src/messages/en/overview.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { templatesQuery } from '#console/src/queries/workspace.ts';
import { TemplateCards } from '#console/src/pages/templates/gallery.tsx';

const SHOWN = 3;

/** Shown in a workspace without runs. */
export function FirstSteps() {
  const templates = useQuery(templatesQuery);
  const mayMake = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows') && mayMake;
  return (
    <Section
      title={text.title}
      actions={
        <Text size="sm">
          <TextLink to="/templates">{text.all}</TextLink>
        </Text>
      }
    >
      <Text size="sm">{mayRun ? text.about : text.mayNotRun}</Text>
      <Loaded query={templates}>
        {(all) => <TemplateCards templates={all.slice(0, SHOWN)} />}
      </Loaded>
    </Section>
  );
}
