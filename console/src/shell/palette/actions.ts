import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { api } from '#console/src/api.ts';
import { palette as texts, runActions } from '#console/src/messages/en/palette.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { requestForm } from '#console/src/parts/forms/requested-form.ts';
import { copyLink } from '#console/src/parts/copy-link.ts';
import { useIdentity, useMay } from '#console/src/queries/identity.ts';
import { approvalsQuery, runsKey } from '#console/src/queries/runs.ts';
import { signOut } from '#console/src/session.ts';
import type { Command } from './commands.ts';

const RUN_PAGE = /^\/runs\/([^/]+)$/;

/** Actions; those on the page's run come first. The service refuses what the run's state does not allow. */
export function useActions(onShortcuts: () => void): Command[] {
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const mayChange = useMay('cancel_resume');
  const runId = RUN_PAGE.exec(path)?.[1];
  const cancel = useAction((id: string) => api().cancel(id), {
    changes: [runsKey],
    done: runActions.cancel.done,
  });
  const resume = useAction((id: string) => api().resume(id), {
    changes: [runsKey],
    done: runActions.resume.done,
  });
  const onRun = (verb: keyof typeof runActions, send: (id: string) => void) =>
    runId === undefined || !mayChange
      ? []
      : [
          {
            id: `${verb}:run`,
            group: 'actions' as const,
            label: runActions[verb].label,
            act: () =>
              confirm({
                title: runActions[verb].title,
                consequence: runActions[verb].consequence,
                confirm: runActions[verb].confirm,
                ...(verb === 'cancel' && { cancelLabel: runActions.cancel.keep }),
                dangerous: verb === 'cancel',
                onConfirm: () => send(runId),
              }),
          },
        ];
  return [
    ...onRun('resume', (id) => resume.mutate(id)),
    ...onRun('cancel', (id) => cancel.mutate(id)),
    ...useNewActions(),
    ...useNextApproval(),
    {
      id: 'failed',
      group: 'actions',
      label: texts.failedRuns,
      act: () => void navigate({ to: '/runs', search: { status: 'failed' } }),
    },
    ...useConsoleActions(),
    { id: 'keys', group: 'actions', label: texts.shortcuts, keys: '?', act: onShortcuts },
  ];
}

/** Opens the gate that has waited longest. */
function useNextApproval(): Command[] {
  const navigate = useNavigate();
  const { data: gates = [] } = useInfiniteQuery(approvalsQuery());
  const [gate] = gates;
  const act = (): void => {
    if (gate === undefined) void navigate({ to: '/approvals' });
    else {
      void navigate({
        to: '/approvals/$runId/$nodeId',
        params: { runId: gate.run_id, nodeId: gate.node_id },
        search: gate.step_key === gate.node_id ? {} : { step: gate.step_key },
      });
    }
  };
  return [
    {
      id: 'next-approval',
      group: 'actions',
      label: texts.approveNext,
      act,
      ...(gate !== undefined && { detail: gate.title }),
    },
  ];
}

/** The forms for new entries that the member can use. */
function useNewActions(): Command[] {
  const navigate = useNavigate();
  const may = {
    create_edit_workflows: useMay('create_edit_workflows'),
    manage_workspace: useMay('manage_workspace'),
    manage_members: useMay('manage_members'),
  };
  const found = [
    { to: '/workflows', label: texts.newWorkflow, may: may.create_edit_workflows, form: true },
    { to: '/templates', label: texts.fromTemplate, may: may.create_edit_workflows, form: false },
    { to: '/secrets', label: texts.newSecret, may: may.manage_workspace, form: true },
    { to: '/budgets', label: texts.newBudget, may: may.manage_workspace, form: true },
    { to: '/schedules', label: texts.newSchedule, may: may.create_edit_workflows, form: true },
    { to: '/members', label: texts.invite, may: may.manage_members, form: true },
    { to: '/data', label: texts.newFeed, may: may.manage_workspace, form: true },
    { to: '/tools', label: texts.newTool, may: may.create_edit_workflows, form: true },
  ] as const;
  return found
    .filter((each) => each.may)
    .map(({ to, label, form }) => ({
      id: `new:${to}`,
      group: 'actions',
      label,
      act: () => {
        if (form) requestForm(to);
        void navigate({ to });
      },
    }));
}

/** What concerns the console itself. */
function useConsoleActions(): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const signedIn = useIdentity().credential === 'session';
  return [
    { id: 'copy-link', group: 'actions', label: texts.copyLink, act: () => void copyLink() },
    {
      id: 'theme',
      group: 'actions',
      label: dark ? texts.lightTheme : texts.darkTheme,
      act: () => setColorScheme(dark ? 'light' : 'dark'),
    },
    ...(signedIn
      ? [{ id: 'sign-out', group: 'actions' as const, label: texts.signOut, act: signOut }]
      : []),
  ];
}
