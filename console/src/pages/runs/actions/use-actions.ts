import {
  type Icon,
  IconArrowsDiff,
  IconCoin,
  IconDownload,
  IconExternalLink,
  IconHandStop,
  IconLink,
  IconPlayerPlay,
  IconPlayerStop,
  IconPrinter,
  IconRefresh,
  IconTestPipe,
} from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { copyLink as copyText } from '#console/src/messages/en/parts/page.ts';
import {
  compareForm,
  override,
  rehearse,
  runActions as text,
} from '#console/src/messages/en/runs/actions.ts';
import { hasEnded, webAddress } from '#console/src/pages/runs/run-facts.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { copyLink } from '#console/src/parts/copy-link.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { saveFile } from '#console/src/parts/save-file.ts';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { cancelQuestion, resumeQuestion } from './questions.tsx';

export type DialogName = 'override' | 'compare' | 'rehearse' | 'again';

interface RunAction {
  label: string;
  icon: Icon;
  act?: () => void;
  /** A page outside of the console. */
  href?: string;
  pending?: boolean;
  /** Whether the run waits for it. */
  urgent?: boolean;
}

/**
 * The actions that the member can take on a run. The primary one is what it waits for, or else what people do most
 * with a run in its state.
 */
export function useActions(
  run: Run,
  { selection, open }: { selection: Selection; open: (dialog: DialogName) => void },
): { primary: RunAction | undefined; others: RunAction[] } {
  const may = {
    decide: useMay('approve_gates'),
    cancelOrResume: useMay('cancel_resume'),
    override: useMay('manage_workspace'),
    run: useMay('run_workflows'),
  };
  const { resume, cancel, saveEvidence } = useRequests(run);
  const ended = hasEnded(run);
  const resumable = run.resumable && may.cancelOrResume;
  useShortcuts(resumable ? { r: resume.ask } : {});
  const { pending_gates: gates } = run;
  // Of several gates, the one after the selected one.
  const gate =
    gates[gates.findIndex(({ step_key: key }) => key === selection.step) + 1] ?? gates[0];
  const decide: RunAction = {
    label: text.decide,
    icon: IconHandStop,
    act: () => selection.select(gate?.step_key),
    urgent: true,
  };
  const usual: (RunAction | false)[] = [
    gate !== undefined && may.decide && decide,
    run.failure?.kind === 'budget' &&
      may.override && {
        label: override.button,
        icon: IconCoin,
        act: () => open('override'),
        urgent: true,
      },
    resumable && {
      label: text.resume.button,
      icon: IconPlayerPlay,
      act: resume.ask,
      pending: resume.pending,
      urgent: true,
    },
    ended && may.run && { label: text.runAgain, icon: IconRefresh, act: () => open('again') },
    !ended &&
      may.cancelOrResume && { label: text.cancel.button, icon: IconPlayerStop, act: cancel },
  ];
  const [primary, ...more] = usual.filter((each) => each !== false);
  const history = webAddress(run.temporal.url);
  const always: (RunAction | false)[] = [
    ended && may.run && { label: rehearse.button, icon: IconTestPipe, act: () => open('rehearse') },
    { label: compareForm.button, icon: IconArrowsDiff, act: () => open('compare') },
    ended && { label: text.evidence, icon: IconDownload, act: saveEvidence },
    { label: copyText.item, icon: IconLink, act: () => void copyLink() },
    { label: text.print, icon: IconPrinter, act: () => window.print() },
    history !== undefined && { label: text.temporal, icon: IconExternalLink, href: history },
  ];
  return { primary, others: [...more, ...always.filter((each) => each !== false)] };
}

function useRequests(run: Run) {
  const resume = useAction(() => api().resume(run.id), {
    changes: [runsKey],
    done: text.resume.done,
  });
  const cancel = useAction(() => api().cancel(run.id), {
    changes: [runsKey],
    done: text.cancel.done,
  });
  const evidence = useAction(
    async () => {
      const saved = await api().exportEvidence(run.id, { contents: true });
      saveFile(`${run.id}.evidence.ndjson`, saved, 'application/x-ndjson');
    },
    { changes: [] },
  );
  return {
    resume: {
      ask: () => confirm({ ...resumeQuestion(run), onConfirm: () => resume.mutate(undefined) }),
      pending: resume.isPending,
    },
    cancel: () => confirm({ ...cancelQuestion(run), onConfirm: () => cancel.mutate(undefined) }),
    saveEvidence: () => evidence.mutate(undefined),
  };
}
