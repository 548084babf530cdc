import { deleteEndedAuthorizations } from '#shared/db/authorizations/authorizations.ts';
import { deleteEndedClients } from '#shared/db/authorizations/clients.ts';
import { listUnsealedWorkspaces, SEAL_BATCH, sealAuditEntries } from '#shared/db/audit/chain.ts';
import { reapHolds } from '#shared/db/money/holds.ts';
import type { Pool } from '#shared/db/pool.ts';
import { dropPastEvents, dropPastSignatures } from '#shared/db/inbound/webhooks.ts';
import { FOLD_BATCH, foldUsage } from '#shared/db/money/usage.ts';
import { storeRunWords, WORDS_BATCH } from '#shared/db/runs/run-words.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Mailer } from '#shared/platform/mailer.ts';
import { inviteRules, mailInvitations } from './people/invitations.ts';
import { type Loop, startLoop } from './loop.ts';

interface BookkeepingDeps {
  db: Pool;
  config: Config;
  log: Logger;
  /** Undefined: no email is configured, so invitations are not sent. */
  mailer: Mailer | undefined;
}

/** Extends the audit log's chains, a batch per workspace. Returns whether there is more to seal. */
export async function sealOnce({ db, log }: Pick<BookkeepingDeps, 'db' | 'log'>): Promise<boolean> {
  let more = false;
  for (const workspaceId of await listUnsealedWorkspaces(db)) {
    try {
      more = (await sealAuditEntries(db, workspaceId)) === SEAL_BATCH || more;
    } catch (error) {
      // A broken chain must not block the others.
      log.error({ err: error, workspaceId }, 'could not continue a chain of the audit log');
    }
  }
  return more;
}

/** Infrequent, since it reads every open hold. The grace period excludes runs that are being admitted or ended. */
const REAP_EVERY_MS = 60_000;
const REAP_GRACE_MS = 60_000;
const REAP_BATCH = 1_000;

/** Closes holds that were left when their run ended or was deleted. Returns whether there are more. */
async function reapOnce({ db, log }: BookkeepingDeps): Promise<boolean> {
  const reaped = await reapHolds(db, REAP_BATCH, REAP_GRACE_MS);
  if (reaped > 0) log.warn({ reaped }, 'closed holds whose runs had ended without closing them');
  return reaped >= REAP_BATCH;
}

const FORGET_EVERY_MS = 60_000;
const FORGET_BATCH = 1_000;

/** Deletes ended codes, tokens and unused clients of the authorization server. Returns whether there are more. */
export async function endAuthorizations({ db }: Pick<BookkeepingDeps, 'db'>): Promise<boolean> {
  const ended = await deleteEndedAuthorizations(db, FORGET_BATCH);
  const clients = await deleteEndedClients(db, FORGET_BATCH);
  return ended >= FORGET_BATCH || clients >= FORGET_BATCH;
}

/**
 * Work done shortly after a transaction, so that no transaction waits for it: seals of the audit log, daily usage,
 * words of runs for the search, abandoned holds, expired webhook events, signatures and tokens, and invitation emails. Each has
 * its own loop, because they are independent.
 */
export function startBookkeeping(deps: BookkeepingDeps): Loop {
  const { mailer } = deps;
  const rules = inviteRules(deps.config);
  const stopping = new AbortController();
  const loops = [
    startLoop({ name: 'audit sealer', ...deps }, () => sealOnce(deps)),
    startLoop(
      { name: 'usage rollup', ...deps },
      async () => (await foldUsage(deps.db)) === FOLD_BATCH,
    ),
    startLoop(
      { name: 'run search', ...deps },
      async () => (await storeRunWords(deps.db)) === WORDS_BATCH,
    ),
    startLoop({ name: 'hold reaper', ...deps, everyMs: REAP_EVERY_MS }, () => reapOnce(deps)),
    startLoop(
      { name: 'event cleanup', ...deps, everyMs: FORGET_EVERY_MS },
      async () => (await dropPastEvents(deps.db, FORGET_BATCH)) === FORGET_BATCH,
    ),
    startLoop(
      { name: 'signature cleanup', ...deps, everyMs: FORGET_EVERY_MS },
      async () => (await dropPastSignatures(deps.db, FORGET_BATCH)) === FORGET_BATCH,
    ),
    startLoop({ name: 'authorization cleanup', ...deps, everyMs: FORGET_EVERY_MS }, () =>
      endAuthorizations(deps),
    ),
  ];
  if (mailer !== undefined) {
    const mailDue = () => mailInvitations({ ...deps, mailer, rules }, stopping.signal);
    loops.push(startLoop({ name: 'invitation mailer', ...deps }, mailDue));
  }
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
