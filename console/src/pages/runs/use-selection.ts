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

const runTabs = ['data', 'log', 'checks', 'checkpoints'] as const;
export type RunTab = (typeof runTabs)[number];

/** The selected tab below the steps. */
export function useTab(): { tab: RunTab; show: (tab: string | null) => void } {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return {
    tab: runTabs.find((each) => each === tab) ?? 'data',
    show: (chosen) =>
      void navigate({
        search: (search) => ({ ...search, tab: chosen ?? undefined }),
        replace: true,
        resetScroll: false,
      }),
  };
}

export const useRunId = (): string => route.useParams().runId;
