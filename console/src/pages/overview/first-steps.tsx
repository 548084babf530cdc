import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TextLink } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { templatesQuery } from '../../queries/templates.ts';
import { TemplateCards } from '../templates/gallery.tsx';

const SHOWN = 3;

/** Shown in a workspace without runs. */
export function FirstSteps() {
  const templates = useQuery(templatesQuery);
  const mayMake = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows') && mayMake;
  return (
    <Section
      title="No runs yet"
      actions={
        <Text size="sm">
          <TextLink to="/templates">View all templates</TextLink>
        </Text>
      }
    >
      <Text size="sm">
        {mayRun
          ? 'Start from a template. One click creates a workflow from it and runs it.'
          : 'You need the create_edit_workflows and run_workflows permissions to run a template.'}
      </Text>
      <Loaded query={templates}>
        {(all) => <TemplateCards templates={all.slice(0, SHOWN)} />}
      </Loaded>
    </Section>
  );
}
