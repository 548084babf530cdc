import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { AcceptInviteInput, SignupInput } from '#shared/contract/people/session.ts';
import type { MemberRow } from '#shared/db/people/members.ts';
import type { Pool } from '#shared/db/pool.ts';
import {
  countAttempt,
  dropEndedWindows,
  forgiveAttempt,
} from '#shared/db/people/sign-in-failures.ts';
import {
  type Account,
  acceptInvite,
  changePassword,
  findAccount,
  isInvited,
  readAccount,
  readOwnerAccount,
  setPassword,
  signUp,
} from '#shared/db/people/sign-ins.ts';
import { AppError } from '#shared/errors.ts';
import { newId } from '#shared/crypto/ids.ts';
import { hashPassword, verifyPassword } from '#shared/platform/secrets/passwords.ts';
import type { Session } from '#shared/platform/secrets/session-tokens.ts';

/**
 * Failed attempts per quarter of an hour. The account's limit is high, and one address alone cannot reach it: otherwise
 * anyone could lock an account.
 */
const MAX_FAILURES = {
  /** For one address and one account. */
  pair: 10,
  account: 100,
  address: 100,
  /** For changing a password with a wrong current one. */
  change: 10,
  /** Every sign-up counts, whether it succeeds or not. */
  signup: 100,
  /** For opening links that do not exist. */
  link: 100,
} as const;
/** Each count also removes some expired rows, so that the table does not grow. */
const DROP_BATCH = 20;

/** The response to a sign-up is sent after a multiple of this time. */
const SIGN_UP_STEP_MS = 200;

type Bound = keyof typeof MAX_FAILURES;

/** The member with this email and password. Throws AppError `unauthenticated`, `forbidden` or `rate_limited`. */
export async function signIn(
  db: Pool,
  given: { email: string; password: string; address: string },
): Promise<Account> {
  const account = given.email.toLowerCase();
  const address = addressBlock(given.address);
  const attempt = await beginAttempt(db, {
    pair: `${address} ${account}`,
    account,
    address,
  });
  const found = await findAccount(db, given.email);
  if (!(await verifyPassword(found?.password_hash ?? null, given.password))) {
    throw new AppError('unauthenticated', 'Wrong email or password');
  }
  await attempt.forgive();
  if (found === undefined || found.status !== 'active') {
    throw new AppError('forbidden', 'This account is waiting for approval by an administrator');
  }
  return found;
}

/**
 * Adds a member who waits for approval. For an existing email, the response and its timing are the same and nothing is
 * written, so that the caller cannot find out who has an account. Throws AppError `rate_limited`.
 */
export async function requestMembership(
  db: Pool,
  { password, ...profile }: SignupInput,
  address: string,
): Promise<MemberRow> {
  const started = performance.now();
  await beginAttempt(db, { signup: addressBlock(address) });
  const row = await signUp(db, {
    ...profile,
    passwordHash: await hashPassword(password),
    network: networkOf(address),
  });
  // Hashing takes the same time for everyone. The rounding hides the time for writing.
  const took = performance.now() - started;
  await setTimeout(SIGN_UP_STEP_MS - (took % SIGN_UP_STEP_MS));
  return row ?? asIfSignedUp(profile);
}

const asIfSignedUp = ({ name, email }: Omit<SignupInput, 'password'>): MemberRow => ({
  id: newId('member'),
  workspace_id: '',
  name,
  email,
  role: 'viewer',
  status: 'pending',
  overrides: {},
  is_owner: false,
  invite_code_sealed: null,
  has_code: false,
  invite_expires_at: null,
  created_at: new Date().toISOString(),
});

/** Redeems an invite code, which activates the member. Throws AppError `invalid` when no member waits for this code. */
export async function joinByInvite(
  db: Pool,
  { password, ...accepted }: AcceptInviteInput,
): Promise<Account> {
  // Looked up first, because hashing is expensive and guessing codes is free.
  const open = await isInvited(db, accepted.invite_code);
  const account = open
    ? await acceptInvite(db, { ...accepted, passwordHash: await hashPassword(password) })
    : undefined;
  if (account !== undefined) return account;
  throw new AppError(
    'invalid',
    'The invite code is invalid, expired or already used; ask for a new one',
  );
}

/**
 * Replaces the password of the session's member, which ends all sessions; the returned account has the next epoch.
 * Throws AppError `invalid` for a wrong current password, `unauthenticated` when the session has ended, `rate_limited`
 * after too many failures.
 */
export async function replacePassword(
  db: Pool,
  session: Session,
  given: { current: string; next: string },
): Promise<Account> {
  const attempt = await beginAttempt(db, { change: session.memberId });
  const account = await readAccount(db, session.memberId);
  if (!(await verifyPassword(account?.password_hash ?? null, given.current))) {
    throw new AppError('invalid', 'Invalid body: current_password is wrong');
  }
  await attempt.forgive();
  const changed = await changePassword(db, {
    memberId: session.memberId,
    epoch: session.epoch,
    passwordHash: await hashPassword(given.next),
  });
  if (changed === undefined) throw new AppError('unauthenticated', 'The session has ended');
  return changed;
}

/**
 * Ensures that the owner of the default workspace can sign in: sets the given password, or a generated one, if there is
 * none. Returns the email, and the password if it was generated now; undefined when there was nothing to do. Of
 * concurrent processes, one does it.
 */
export async function ensureOwnerPassword(
  db: Pool,
  password: string | undefined,
): Promise<{ email: string; generated: string | undefined } | undefined> {
  const owner = await readOwnerAccount(db);
  if (owner === undefined || owner.hasPassword) return undefined;
  const generated = password === undefined ? generatePassword() : undefined;
  const set = await setPassword(db, {
    memberId: owner.id,
    passwordHash: await hashPassword(password ?? generated ?? ''),
    onlyFirst: true,
  });
  return set ? { email: owner.email, generated } : undefined;
}

/** 144 random bits, in characters that are easy to copy. */
export const generatePassword = (): string => randomBytes(18).toString('base64url');

/**
 * Counts an attempt before it happens. Throws AppError `rate_limited` after too many failures; the refused attempt does
 * not count, so further attempts do not extend the lock.
 */
async function beginAttempt(
  db: Pool,
  whose: Partial<Record<Bound, string>>,
): Promise<{ forgive: () => Promise<void> }> {
  const bounds = new Map<string, number>();
  for (const [bound, name] of Object.entries(whose) as [Bound, string][]) {
    // Hashed, because names can have any length, and the table should not reveal who tries to sign in.
    const digest = createHash('sha256').update(name).digest('base64url');
    bounds.set(`${bound}:${digest}`, MAX_FAILURES[bound]);
  }
  const subjects = [...bounds.keys()];
  const counted = await countAttempt(db, subjects);
  const over = counted.filter((each) => each.failures > (bounds.get(each.subject) ?? 0));
  if (over.length > 0) {
    await forgiveAttempt(db, subjects);
    throw new AppError('rate_limited', 'Too many attempts; try again later', {
      retryAfterSeconds: Math.max(...over.map((each) => each.seconds)),
    });
  }
  await dropEndedWindows(db, DROP_BATCH);
  return { forgive: () => forgiveAttempt(db, subjects) };
}

/** Counts the use of a link by an address. A link that exists is forgiven. Throws AppError `rate_limited`. */
export const beginLinkUse = (db: Pool, address: string): ReturnType<typeof beginAttempt> =>
  beginAttempt(db, { link: addressBlock(address) });

/** The network of an address, by the usual assignment of networks: 24 bits of IPv4, 48 of IPv6. */
function networkOf(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  const parts = address.toNormalizedString().split(address.kind() === 'ipv4' ? '.' : ':');
  return parts.slice(0, 3).join(address.kind() === 'ipv4' ? '.' : ':');
}

/** The address; for IPv6, the /64 network of one customer. */
function addressBlock(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toNormalizedString().split(':').slice(0, 4).join(':');
}
