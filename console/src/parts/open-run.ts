import { useNavigate } from '@tanstack/react-router';

/** The search parameters of a run's page without a selection. */
export const NO_SELECTION = { step: undefined, tab: undefined };

/** Returns a function that opens the page of a run. */
export function useOpenRun(): (runId: string) => void {
  const navigate = useNavigate();
  return (runId) => void navigate({ to: '/runs/$runId', params: { runId }, search: NO_SELECTION });
}
