import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { palette as text } from '#console/src/messages/en/palette.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { useNow } from '#console/src/parts/text/now.ts';
import { agoText } from '#console/src/parts/text/times.ts';
import { navPages } from '#console/src/nav.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { membersQuery } from '#console/src/queries/members.ts';
import { latestRunsQuery, runQuery } from '#console/src/queries/runs.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { scoreOf } from './fuzzy.ts';

export interface Command {
  id: string;
  group: (typeof groups)[number];
  label: string;
  /** A second line, such as a time. It is also searched. */
  detail?: string;
  /** What also finds it, such as an id. */
  also?: string;
  keys?: string;
  act: () => void;
}

/** The maximum number of displayed commands per group, best first. All actions are shown. */
const MOST = 6;
const groups = [
  'actions',
  'steps',
  'pages',
  'workflows',
  'runWorkflow',
  'runs',
  'members',
] as const;
const RUN_ID = /^run_[0-9a-z]{4,}$/;

/** The commands that match the typed text, grouped, with the best first in each group. */
export function useCommands(typed: string, actions: readonly Command[]): Command[] {
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const { data: members = [] } = useQuery(membersQuery);
  const now = useNow();
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
    ...useSteps(path),
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
    ...(latest?.runs ?? []).map(
      ({ id, workflow_name, status, created_at, input_excerpt }): Command => ({
        id,
        group: 'runs',
        label: text.run(workflow_name, statuses[status]),
        detail: [input_excerpt, agoText(Date.parse(created_at) - now)].filter(Boolean).join(' · '),
        also: id,
        act: openRun(id),
      }),
    ),
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

const RUN_PAGE = /^\/runs\/([^/]+)$/;

/** The steps of the run on the page. */
function useSteps(path: string): Command[] {
  const navigate = useNavigate();
  const runId = RUN_PAGE.exec(path)?.[1] ?? '';
  const { data: run } = useQuery({ ...runQuery(runId), enabled: runId !== '' });
  return (runId === '' ? [] : (run?.steps ?? [])).map(({ step_key: step, label }) => ({
    id: `step:${step}`,
    group: 'steps',
    label: text.goToStep(label),
    detail: step,
    act: () => void navigate({ to: '/runs/$runId', params: { runId }, search: { step } }),
  }));
}

function best(all: readonly Command[], group: Command['group'], typed: string): Command[] {
  return all
    .filter((command) => command.group === group)
    .flatMap((command) => {
      const score = scoreOf(
        [command.label, command.detail, command.also].filter(Boolean).join(' '),
        typed,
      );
      return score === undefined ? [] : [{ command, score }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, group === 'actions' ? undefined : MOST)
    .map(({ command }) => command);
}
