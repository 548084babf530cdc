import type { SlackTarget } from '#shared/platform/calls/slack.ts';
import { callSlack, SlackError } from '#shared/platform/calls/slack.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Pool } from '#shared/db/pool.ts';
import { NodeError } from '#shared/node-error.ts';
import { type ConnectionTokens, endRefusedSignIn } from '#shared/operations/connections/tokens.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { goesToHosts } from '#shared/values/secrets.ts';
import type { JsonObject } from '#shared/json.ts';

export interface SlackDeps {
  db: Pool;
  egress: Egress;
  sealer: Sealer | undefined;
  connectionTokens: ConnectionTokens;
  config: Pick<Config, 'api' | 'slackApiUrl'>;
}

/** A connection to Slack, by its workspace and name. */
export interface SlackAccount {
  workspaceId: string;
  connection: string;
}

const NO_VALUES = { places: [], sealed: new Map(), addresses: new Map() };

/**
 * Calls a method of Slack with the token of a workspace, refreshed if it is due. A token that Slack no longer accepts ends the
 * sign-in of its connection, with an alert. Throws SlackError, and the signal's reason.
 */
export async function askSlack(
  deps: SlackDeps,
  { workspaceId, connection }: SlackAccount,
  method: string,
  values: JsonObject,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<JsonObject> {
  const { slackApiUrl: apiUrl } = deps.config;
  const account = async () => ({ missing: 'no member uses it' });
  let used: string | undefined;
  try {
    const wanted = { workspaceId, names: [connection], account };
    return await deps.connectionTokens.use(wanted, NO_VALUES, async ({ tokens }) => {
      const token = tokens?.get(connection);
      if (token === undefined || !goesToHosts(new URL(apiUrl), token.hosts)) {
        throw new SlackError('refused', `The connection '${connection}' cannot be used for Slack`);
      }
      used = token.value;
      return call(deps.egress, { apiUrl, token: token.value }, method, values, options);
    });
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const { status, retryable } = error;
    if (status === 401 && used !== undefined) {
      await endRefusedSignIn(deps, { workspaceId, name: connection }, used);
      throw new SlackError('token', error.message);
    }
    if (retryable) throw new SlackError('temporary', error.message);
    throw new SlackError('token', `The connection '${connection}' needs a sign-in`);
  }
}

/** A token that is not accepted is renewed, if the connection can do so. */
async function call(
  egress: Egress,
  target: SlackTarget,
  method: string,
  values: JsonObject,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<JsonObject> {
  try {
    return await callSlack(egress, target, method, values, options);
  } catch (error) {
    if (!(error instanceof SlackError) || error.reason !== 'token') throw error;
    throw new NodeError(error.message, { retryable: false, status: 401, kind: 'connection' });
  }
}
