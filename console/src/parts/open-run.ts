import { useNavigate } from '@tanstack/react-router';

/** Returns a function that opens the page of a run. */
export function useOpenRun(): (runId: string) => void {
  const navigate = useNavigate();
  return (runId) => void navigate({ to: '/runs/$runId', params: { runId }, search: {} });
}
