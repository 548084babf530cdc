import {
  interactionSchema,
  interactionTeam,
  type SlackInteraction,
} from '#shared/contract/slack/interaction.ts';
import { type SignedRequest, slackSignature } from '#shared/crypto/slack-signatures.ts';
import {
  findSlackTeam,
  isFirstRequest,
  signingSecretPlace,
  type SlackTeam,
} from '#shared/db/slack/settings.ts';
import { AppError } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseOutsideJson } from '#shared/outside-json.ts';
import { resultModal } from '#shared/graph/slack/modal.ts';
import { section } from '#shared/graph/slack/text.ts';
import { askSlack } from './account.ts';
import { openDecision } from './click.ts';
import { type DecideDeps, decideSubmission, type Outcome } from './decide.ts';

/** How long the answer to a modal can take: Slack waits three seconds. */
const ANSWER_MS = 2_200;

/** What Slack gets, and the work that continues afterward, which never rejects. */
export interface Received {
  answer: JsonObject | undefined;
  rest: Promise<void>;
}

const NOTHING: Received = { answer: undefined, rest: Promise.resolve() };

/**
 * Takes what someone has clicked or entered in Slack. Each signed request counts once. Throws AppError `unauthenticated`, the
 * same for an unknown team, another signature and an old request.
 */
export async function receiveInteraction(
  deps: DecideDeps,
  request: SignedRequest,
  now = Date.now(),
): Promise<Received> {
  const payload = payloadIn(request.body);
  const teamId = interactionTeam.safeParse(payload).data?.team.id;
  const team = teamId === undefined ? undefined : await findSlackTeam(deps.db, teamId);
  const signature = slackSignature(request, secretOf(deps, team), now / 1_000);
  if (team === undefined || signature === undefined) throw unsigned();
  const workspaceId = team.workspace_id;
  const { data: interaction } = interactionSchema.safeParse(payload);
  if (interaction === undefined) return NOTHING;
  if (!(await isFirstRequest(deps.db, { signature, workspaceId }))) return NOTHING;
  const account = { workspaceId, connection: team.connection };
  if (interaction.type === 'block_actions') {
    return { answer: undefined, rest: openDecision(deps, account, interaction) };
  }
  return answerInTime(deps, account, interaction);
}

const unsigned = (): AppError =>
  new AppError('unauthenticated', 'The request has no valid signature of a connected Slack team');

function secretOf({ sealer }: DecideDeps, team: SlackTeam | undefined): string | undefined {
  if (team === undefined || sealer === undefined) return undefined;
  try {
    return sealer.open(team.sealed, signingSecretPlace(team.workspace_id));
  } catch {
    return undefined;
  }
}

/** The payload of a form; undefined if there is none. */
function payloadIn(body: Buffer): Json | undefined {
  const text = new URLSearchParams(body.toString('utf8')).get('payload');
  try {
    return text === null ? undefined : parseOutsideJson(text);
  } catch {
    return undefined;
  }
}

type Account = { workspaceId: string; connection: string };
type Submission = Extract<SlackInteraction, { type: 'view_submission' }>;

/** What takes longer than Slack waits continues, and its modal shows the end. */
async function answerInTime(
  deps: DecideDeps,
  account: Account,
  submission: Submission,
): Promise<Received> {
  const deciding = decideSubmission(deps, account, submission);
  const first = await Promise.race([deciding, after(ANSWER_MS)]);
  if (first !== undefined) return { answer: answerOf(first), rest: Promise.resolve() };
  const view = resultModal('Deciding', [section('This takes a moment. The result appears here.')]);
  return {
    answer: { response_action: 'update', view },
    rest: deciding.then((outcome) => showLater(deps, account, submission.view.id, outcome)),
  };
}

function answerOf(outcome: Outcome): JsonObject {
  if (outcome.kind === 'done') return { response_action: 'clear' };
  return outcome.errors === undefined
    ? { response_action: 'update', view: outcome.view }
    : { response_action: 'errors', errors: outcome.errors };
}

async function showLater(
  deps: DecideDeps,
  account: Account,
  viewId: string,
  outcome: Outcome,
): Promise<void> {
  const view =
    outcome.kind === 'done'
      ? resultModal('Decided', [section('Your decision counts.')])
      : outcome.view;
  try {
    await askSlack(deps, account, 'views.update', { view_id: viewId, view });
  } catch (error) {
    deps.log.warn({ err: error, workspaceId: account.workspaceId }, 'could not update a modal');
  }
}

const after = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
