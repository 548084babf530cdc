import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Actor } from '../shared/actor.ts';
import type { Capability } from '../shared/capabilities.ts';
import type { DataScope } from '../shared/contract/data/envelope.ts';
import type { AdmittedKey, DataAccount } from '../shared/db/data/metering.ts';
import type { Tx } from '../shared/db/pool.ts';
import type { EnabledWebhook } from '../shared/db/workflows/webhooks.ts';
import type { RunDeps } from '../shared/operations/runs/runs.ts';
import type { DataCursors } from '../shared/crypto/data-cursors.ts';
import type { Egress } from '../shared/platform/egress/egress.ts';
import type { Sealer } from '../shared/crypto/sealing.ts';
import type { SessionTokens } from '../shared/platform/secrets/session-tokens.ts';
import type { Authenticator, Credential } from './identity/authenticate.ts';
import type { DataAccess } from './data/access.ts';
import type { KeyUses } from './identity/key-uses.ts';
import type { HeaderName } from './openapi/headers.ts';
import type { Untold } from './load/in-flight.ts';

/** What the app is built from. Frames are listened for at `config.database.url`. */
export interface ApiDeps extends RunDeps {
  /** Where metrics are kept; without one the app keeps its own. */
  metrics?: Registry;
}

/**
 * What routes are given: the deps, the one way to tell who asks, the one way out, what keeps secrets, when keys were
 * last used, and what Temporal is still to be told.
 */
export interface RouteContext extends ApiDeps {
  authenticator: Authenticator;
  egress: Egress;
  /** Undefined without a key: then no secret can be kept. */
  sealer: Sealer | undefined;
  keyUses: KeyUses;
  /** The same of keys of the data API. */
  dataKeyUses: KeyUses;
  dataAccess: DataAccess;
  dataCursors: DataCursors;
  meter: Meter;
  tokens: SessionTokens;
  untold: Untold;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route. Every route says so; one that does not keeps the app from starting. */
    capability?: Capability | 'authenticated' | 'public';
    /** What the route takes besides, because its act has another effect, such as a run. */
    also?: readonly Capability[];
    /** What a key of the data API needs for the route. Such routes declare this instead of a capability. */
    scope?: DataScope;
    /** It is a WebSocket. All other routes answer plain HTTP alone. */
    stream?: boolean;
    /** Headers of its successes beside those of every answer, for the OpenAPI document. */
    headers?: readonly HeaderName[];
    /** It reads the body whatever its content type says. */
    anyMediaType?: boolean;
  }
  interface FastifyRequest {
    /** Who asks. Unset on public routes. */
    actor: Actor;
    /** What they were let in by. Unset on public routes. */
    credential: Credential;
    /** The call of the data API that this is. Unset on other routes. */
    dataCall: DataCall;
    /** What the caller has used of its allowances, this call included. Unset on other routes. */
    dataAccount: DataAccount;
    /** How a stream request was judged before its handshake. */
    admission: StreamAdmission | null;
    /** The webhook that an event was sent to. Unset on other routes. */
    hook: HookRequest;
  }
}

/** Closed at once with a code, or let in by a credential to hear the frames after number `after`. */
export type StreamAdmission =
  | { close: number; reason?: string }
  /** `release` gives the socket's place back. */
  | { after: number; credential: Credential; release: () => void };

/** Who calls the data API, by which key. */
export interface DataCaller {
  keyId: string;
  keyName: string;
  workspaceId: string;
  /** Test keys see what is made up, live keys what is real. */
  isDemo: boolean;
  scopes: readonly string[];
}

export interface DataCall {
  caller: DataCaller;
  /** Taken so far for what is about to be answered. */
  credits: number;
}

/** What an answer of the data API costs. `operation` names it in the ledger. */
export interface DataCost {
  operation: string;
  credits: number;
  records: number;
}

/** Keeps account of what the data API answers. */
export interface Meter {
  /** Who has the key with this SHA-256, with their request counted; undefined when no key that is valid now has it. */
  admit(hash: Buffer): Promise<AdmittedKey | undefined>;
  /**
   * Takes the credits for what is about to be sent, all or none, and notes them in the ledger and in the call. Nothing
   * may leave before this has resolved. Throws AppError `credits_exhausted`.
   */
  charge(request: FastifyRequest, cost: DataCost): Promise<void>;
  /** The same in one transaction with `work`, which comes first: neither is done without the other. */
  chargeWith<Done>(
    request: FastifyRequest,
    cost: DataCost,
    work: (tx: Tx) => Promise<Done>,
  ): Promise<Done>;
}

/** An event on its way in, with the bytes it came as. */
export interface HookRequest {
  workflowId: string;
  webhook: EnabledWebhook;
  body: Buffer;
}
