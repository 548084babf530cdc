import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';

const route = getRouteApi('/inside/runs/$runId');

export interface Selection {
  /** The key of the selected step, or the id of a node that was not reached. */
  step: string | undefined;
  select: (step: string | undefined) => void;
}

/** The only selection of the run page. It is in the URL, so that it can be shared and survives a reload. */
export function useSelection(): Selection {
  const { step } = route.useSearch();
  const navigate = route.useNavigate();
  const select = useCallback(
    (chosen: string | undefined) =>
      void navigate({
        search: (search) => ({ ...search, step: chosen }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return { step, select };
}

const runViews = ['steps', 'nodes', 'graph', 'log', 'checks', 'checkpoints'] as const;
type RunView = (typeof runViews)[number];

/** The selected view of the run. */
export function useView(): { view: RunView; show: (view: string | null) => void } {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return {
    view: runViews.find((each) => each === tab) ?? 'steps',
    show: (chosen) =>
      void navigate({
        search: (search) => ({
          ...search,
          tab: chosen === null || chosen === 'steps' ? undefined : chosen,
        }),
        replace: true,
        resetScroll: false,
      }),
  };
}

export const useRunId = (): string => route.useParams().runId;
