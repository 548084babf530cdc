import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Actor } from '#shared/people/actor.ts';
import type { Capability } from '#shared/people/capabilities.ts';
import type { DataScope } from '#shared/contract/data/envelope.ts';
import type { AdmittedKey, DataAccount } from '#shared/db/data/metering.ts';
import type { ArrivedEvent } from '#shared/db/inbound/arrived-event.ts';
import type { Tx } from '#shared/db/pool.ts';
import type { EnabledWebhook } from '#shared/db/inbound/webhooks.ts';
import type { ConnectionTokens } from '#shared/operations/connections/tokens.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import type { DataCursors } from '#shared/crypto/data-cursors.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { CallbackStep } from '#shared/crypto/callback-tokens.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Session, SessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import type { StreamTokens } from '#shared/platform/secrets/stream-tokens.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { StreamReader } from './stream/reader.ts';
import type { KeyUses } from './identity/key-uses.ts';
import type { HeaderName } from './openapi/headers.ts';
import type { InFlight } from './load/in-flight.ts';

/** The credential of a request. */
type Credential =
  | { kind: 'none' }
  | { kind: 'session'; session: Session }
  | { kind: 'api_key'; keyId: string }
  | { kind: 'authorization'; authorizationId: string };

export interface Caller {
  actor: Actor;
  credential: Credential;
}

export interface Authenticator {
  /**
   * The actor of a request. Only with `tokens`, an access token of the authorization server counts. Throws AppError
   * `unauthenticated`.
   */
  identify(
    request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
    accepted?: { tokens: boolean },
  ): Promise<Caller>;
  /** The actor of a session token. Throws AppError `unauthenticated`. */
  identifySession(token: string): Promise<Caller>;
  /** The actor of requests without a credential. Throws AppError `unauthenticated` if they are not allowed. */
  identifyNobody(): Promise<Caller>;
}

export interface DataAccess {
  /**
   * Identifies the caller of the data API and counts the call, regardless of its outcome. Then it refuses callers who
   * exceed their rate, have no requests left, call from a blocked address or lack the scope, in this order. Throws
   * AppError `unauthenticated`, `rate_limited`, `allowance_exhausted`, `forbidden`.
   */
  admit(request: FastifyRequest, reply: FastifyReply, scope?: DataScope): Promise<void>;
}

/** The dependencies of the app. It listens for frames at `config.database.url`. */
export interface ApiDeps extends RunDeps {
  /** The registry for metrics. By default, the app creates its own. */
  metrics?: Registry;
}

/**
 * The dependencies of routes: those of the app, authentication, egress, sealing of secrets, the last uses of keys, and
 * the calls to Temporal in flight.
 */
export interface RouteContext extends ApiDeps {
  authenticator: Authenticator;
  egress: Egress;
  /** Undefined without a key: then no secret can be stored. */
  sealer: Sealer | undefined;
  /** The tokens of connections, for tests of tools. */
  connectionTokens: ConnectionTokens;
  keyUses: KeyUses;
  /** The last uses of what members granted to clients. */
  authorizationUses: KeyUses;
  /** The last uses of keys of the data API. */
  dataKeyUses: KeyUses;
  dataAccess: DataAccess;
  dataCursors: DataCursors;
  meter: Meter;
  tokens: SessionTokens;
  streamTokens: StreamTokens;
  inFlight: InFlight;
  /** How often an open stream of server-sent events sends a comment. */
  commentEveryMs: number;
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
    /** Who can call the route. Every route must declare it, or the app does not start. */
    capability?: Capability | 'authenticated' | 'public';
    /** A second capability that the route requires, because its action has another effect, such as a run. */
    also?: readonly Capability[];
    /** The scope that a key of the data API needs for the route. Such routes declare this instead of a capability. */
    scope?: DataScope;
    /** Whether access tokens of the authorization server count. On all other routes, they are invalid. */
    tokens?: boolean;
    /** Whether it is a WebSocket. All other routes only accept plain HTTP. */
    stream?: boolean;
    /** Additional headers of its successful responses, for the OpenAPI document. */
    headers?: readonly HeaderName[];
    /** Accepts a body of any content type. */
    anyMediaType?: boolean;
  }
  interface FastifyRequest {
    /** The authenticated caller. Unset on public routes. */
    actor: Actor;
    /** The credential of the request. Unset on public routes. */
    credential: Credential;
    /** The data API call of this request. Unset on other routes. */
    dataCall: DataCall;
    /** The caller's use of their allowances, including this call. Unset on other routes. */
    dataAccount: DataAccount;
    /** The reader with a stream token. Null for requests without one. */
    streamReader: StreamReader | null;
    /** The decision about a stream request, made before its handshake. */
    admission: StreamAdmission | null;
    /** The webhook that received the event. Unset on other routes. */
    hook: HookRequest;
    /** The callback that the request sends. Unset on other routes. */
    callback: { step: CallbackStep; body: Buffer };
  }
}

/** Starts sending, beginning with what happened before the handshake. Returns a function that ends it. */
export type Follow = (reader: {
  /** `seq`: the number of a stored frame. */
  send: (frame: Buffer, seq?: number) => void;
  /** Called after each stored frame of a run, also those that are not sent. */
  passed?: (seq: number, type: StreamFrame['type']) => void;
}) => () => void;

/** Closed immediately with a code, or authenticated to receive frames. */
export type StreamAdmission =
  | { close: number; reason?: string }
  | {
      reader: StreamReader;
      follow: Follow;
      /** Releases the socket's slot. */
      release: () => void;
    };

/** The caller of the data API, and their key. */
export interface DataCaller {
  keyId: string;
  keyName: string;
  workspaceId: string;
  /** Test keys read demo records, live keys read live ones. */
  isDemo: boolean;
  scopes: readonly string[];
}

export interface DataCall {
  caller: DataCaller;
  /** Credits taken so far for the response. */
  credits: number;
}

/** The cost of a data API response. `operation` names it in the ledger. */
export interface DataCost {
  operation: string;
  credits: number;
  records: number;
}

/** Meters the responses of the data API. */
export interface Meter {
  /** The holder of the key with this SHA-256, with the request counted; undefined when there is no such valid key. */
  admit(hash: Buffer): Promise<AdmittedKey | undefined>;
  /**
   * Takes the credits for a response, all or none, and records them in the ledger and the call. Send nothing before
   * this has resolved. Throws AppError `credits_exhausted`.
   */
  charge(request: FastifyRequest, cost: DataCost): Promise<void>;
  /** Like `charge`, in one transaction with `work`, which runs first: either both happen or neither. */
  chargeWith<Done>(
    request: FastifyRequest,
    cost: DataCost,
    work: (tx: Tx) => Promise<Done>,
  ): Promise<Done>;
}

/** An inbound event, with its raw bytes. */
export interface HookRequest {
  workflowId: string;
  /** What the log stores about it, as far as it was read. */
  arrival: ArrivedEvent;
  webhook: EnabledWebhook;
  /** The content type with which it was sent. */
  type: string | undefined;
  body: Buffer;
}
