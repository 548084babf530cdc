import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import type { Run, Template, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { templateCard as text } from '#console/src/messages/en/templates.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { metricsQuery, templatesQuery, usageQuery } from '#console/src/queries/workspace.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';

/** The actions on a template, each undefined for users without the permission. */
export function useTemplateActions(template: Template) {
  const mayMake = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows') && mayMake;
  const navigate = useNavigate();
  const toEditor = ({ id: workflowId }: Workflow): void =>
    void navigate({ to: '/workflows/$workflowId/edit', params: { workflowId } });

  const make = useAction(() => api().instantiateTemplate(template.id), {
    changes: [workflowsKey],
    done: text.created(template.name),
    onDone: toEditor,
  });
  const makeAndRun = useAction(() => instantiateAndRun(template), {
    changes: [workflowsKey, runsKey, metricsQuery.queryKey, usageQuery.queryKey],
    onDone: ({ workflow, run, refusal }) => {
      if (run !== undefined) {
        return void navigate({ to: '/runs/$runId', params: { runId: run.id } });
      }
      notifications.show({
        color: 'danger',
        title: text.notRun,
        message: describeError(refusal),
      });
      toEditor(workflow);
    },
  });
  const remove = useAction(
    ({ id, etag }: Template) => api().deleteTemplate(id, { ifMatch: etag }),
    {
      changes: [templatesQuery.queryKey],
      done: text.deleted(template.name),
    },
  );
  return {
    make: mayMake ? make : undefined,
    makeAndRun: mayRun ? makeAndRun : undefined,
    remove: mayMake && !template.built_in ? remove : undefined,
  };
}

/** A quota or budget can refuse the run, but the workflow exists anyway. */
async function instantiateAndRun(
  template: Template,
): Promise<{ workflow: Workflow; run?: Run; refusal?: unknown }> {
  const workflow = await api().instantiateTemplate(template.id);
  try {
    return { workflow, run: await api().triggerRun(workflow.id, template.sample_input) };
  } catch (refusal) {
    return { workflow, refusal };
  }
}
