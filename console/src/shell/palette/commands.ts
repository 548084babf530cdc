import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { palette as text } from '#console/src/messages/en/palette.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { navPages } from '#console/src/nav.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { membersQuery } from '#console/src/queries/members.ts';
import { latestRunsQuery } from '#console/src/queries/runs.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { scoreOf } from './fuzzy.ts';

export interface Command {
  id: string;
  group: (typeof groups)[number];
  label: string;
  /** A second line, such as an id. It is also searched. */
  detail?: string;
  keys?: string;
  act: () => void;
}

/** The maximum number of displayed commands per group, best first. All actions are shown. */
const MOST = 6;
const groups = ['actions', 'pages', 'workflows', 'runWorkflow', 'runs', 'members'] as const;
const RUN_ID = /^run_[0-9a-z]{4,}$/;

/** The commands that match the typed text, grouped, with the best first in each group. */
export function useCommands(typed: string, actions: readonly Command[]): Command[] {
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const { data: members = [] } = useQuery(membersQuery);
  const mayRun = useMay('run_workflows');
  const { data: latest } = useQuery(latestRunsQuery);
  const openRun = (runId: string) => () => void navigate({ to: '/runs/$runId', params: { runId } });
  const pages = navPages.map(({ section, page: { label, to, key } }): Command => ({
    id: `page:${to}`,
    group: 'pages',
    label,
    act: () => void navigate({ to }),
    // The name of the section also finds its pages.
    ...(section.label === label ? {} : { detail: section.label }),
    ...(key === undefined ? {} : { keys: `g ${key}` }),
  }));
  const all: Command[] = [
    ...actions,
    ...pages,
    ...workflows.map(({ id, name }): Command => ({
      id,
      group: 'workflows',
      label: name,
      detail: id,
      act: () => void navigate({ to: '/workflows/$workflowId', params: { workflowId: id } }),
    })),
    ...(typed.trim() === '' || !mayRun ? [] : workflows).map(({ id, name }): Command => ({
      id: `run:${id}`,
      group: 'runWorkflow',
      label: text.runWorkflow(name),
      detail: id,
      act: () =>
        void navigate({
          to: '/workflows/$workflowId',
          params: { workflowId: id },
          search: { run: true },
        }),
    })),
    ...(latest?.runs ?? []).map(({ id, workflow_name, status }): Command => ({
      id,
      group: 'runs',
      label: text.run(workflow_name, statuses[status]),
      detail: id,
      act: openRun(id),
    })),
    ...members.map(({ id, name, email }): Command => ({
      id,
      group: 'members',
      label: name || email,
      detail: email,
      act: () => void navigate({ to: '/members/$memberId', params: { memberId: id } }),
    })),
  ];
  const wanted = typed.trim();
  const found = groups.flatMap((group) => best(all, group, wanted));
  if (wanted === '') return found.filter(({ id }) => !path.endsWith(id));
  const search: Command = {
    id: 'search',
    group: 'runs',
    label: text.searchRuns(wanted),
    act: () => void navigate({ to: '/runs', search: { q: wanted } }),
  };
  const byId: Command[] = RUN_ID.test(wanted)
    ? [{ id: 'by-id', group: 'runs', label: text.openRun(wanted), act: openRun(wanted) }]
    : [];
  return [...byId, ...found, search];
}

function best(all: readonly Command[], group: Command['group'], typed: string): Command[] {
  return all
    .filter((command) => command.group === group)
    .flatMap((command) => {
      const score = scoreOf(`${command.label} ${command.detail ?? ''}`, typed);
      return score === undefined ? [] : [{ command, score }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, group === 'actions' ? undefined : MOST)
    .map(({ command }) => command);
}
