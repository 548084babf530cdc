import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { AlertChannel } from '#shared/contract/alerts/alerts.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '#shared/people/password-length.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

/**
 * The only place that reads the environment. Names include their unit; an empty variable counts as unset. A test
 * compares `.env.example`, which lists every variable, with this schema.
 */
const flag = (fallback: 'on' | 'off') =>
  z
    .enum(['on', 'off'])
    .default(fallback)
    .transform((value) => value === 'on');
const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const positiveInt = (fallback: number) => z.coerce.number().int().min(1).default(fallback);

const cidr = z.string().refine((text) => {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
  return (
    family > 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= family))
  );
}, 'must be an IP address or CIDR');
/** `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`. */
const hostAndPort = z.string().transform((text, context) => {
  const url = /^[^/?#@]+:\d{1,5}$/.test(text) ? URL.parse(`tcp://${text}`) : null;
  const port = Number(url?.port);
  if (url !== null && url.hostname !== '' && port > 0) {
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  }
  context.addIssue({ code: 'custom', message: 'must be a list of host:port' });
  return z.NEVER;
});
const list = (fallback = '') =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );

/** The protocol for sending traces. */
export const OTLP_PROTOCOL = 'http/json';

/** As OpenTelemetry's specification requires: case-insensitive, and only this word enables something. */
const otelFlag = z
  .string()
  .default('false')
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(['true', 'false'], { error: 'must be true or false' }))
  .transform((value) => value === 'true');
const milliseconds = z.coerce.number().int().min(1).max(2_147_483_647);
/** `name=value` separated by commas, percent-encoded; names are in lower case. */
const otlpHeaders = z.string().transform((text, context) => {
  const items = text.split(',').filter((item) => item.trim() !== '');
  const headers = items.map((item) => {
    const [, name, value = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=([^;]*)$/.exec(item) ?? [];
    const decoded = headerValue(value.trim());
    return name === undefined || decoded === undefined ? undefined : [name.toLowerCase(), decoded];
  });
  if (headers.every((header) => header !== undefined)) {
    return Object.fromEntries(headers) as Record<string, string>;
  }
  context.addIssue({
    code: 'custom',
    message: 'must be name=value separated by commas, with other characters percent-encoded',
  });
  return z.NEVER;
});

/** Undefined for a text that is not percent-encoded, or cannot be a header value. */
function headerValue(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /^[\t\x20-\x7e]*$/.test(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

export const environmentSchema = z.object({
  NODE_ENV: z.string().default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  DATA_DIR: z.string().default('.data'),
  CONFIG_FILE: z.string().optional(),
  SEED: flag('on'),

  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: port(8000),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  CORS_ORIGINS: list('http://localhost:3000,http://127.0.0.1:3000'),
  TRUSTED_PROXIES: list().pipe(z.array(cidr)),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(0),
  DATA_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(0),
  DATA_KEY_FAILURES_PER_MINUTE: z.coerce.number().int().min(0).default(1_000),
  STREAM_SOCKETS_PER_MEMBER: positiveInt(50),
  STREAM_SOCKETS_PER_MEMBER_AND_RUN: positiveInt(20),
  STREAM_SOCKETS_PER_ADDRESS: positiveInt(1_000),
  STREAM_SOCKETS_PER_ADDRESS_AND_RUN: positiveInt(80),
  STREAM_SOCKETS_PER_RUN: positiveInt(100),
  STREAM_SOCKETS_PER_WORKSPACE: positiveInt(2_000),
  STREAM_SOCKETS_PER_PROCESS: positiveInt(5_000),
  METRICS_ALLOW: list('127.0.0.0/8,::1').pipe(z.array(cidr)),
  WORKER_METRICS_HOST: z.string().default('127.0.0.1'),
  WORKER_METRICS_PORT: port(0),

  DATABASE_URL: z.string().optional(),
  DATABASE_POOL_SIZE: positiveInt(20),
  POSTGRES_PORT: port(5433),

  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_PORT: port(7233),
  TEMPORAL_UI_PORT: port(8233),
  TEMPORAL_UI_URL: z.url({ protocol: /^https?$/ }).optional(),
  TEMPORAL_READABLE_NAMES: flag('on'),
  TASK_QUEUE_PREFIX: z.string().min(1).default('ops'),
  WORKFLOW_BUNDLE: z.string().optional(),
  MAX_CACHED_WORKFLOWS: z.coerce.number().int().min(10).default(500),
  MAX_CONCURRENT_STEPS: positiveInt(100),
  MAX_STEPS_IN_FLIGHT_PER_RUN: z.coerce.number().int().min(1).max(1_500).default(100),
  HEARTBEAT_TIMEOUT_SECONDS: z.coerce.number().min(1).default(10),
  WORKFLOW_TASK_TIMEOUT_SECONDS: z.coerce.number().min(1).max(120).default(10),
  SHUTDOWN_GRACE_SECONDS: z.coerce.number().min(0).max(86_400).default(60),

  RECONCILE_INTERVAL_SECONDS: z.coerce.number().min(0.05).default(1),
  RECONCILE_GRACE_SECONDS: z.coerce.number().min(0.1).default(30),

  RECHECK_SECONDS: z.coerce.number().min(0.05).max(20).default(20),

  DELIVERY_BACKOFF_SECONDS: z.coerce.number().min(0.01).max(3_600).default(30),

  AUTH_MODE: z.enum(['open', 'required']).default('open'),
  SECRET_KEY: z.string().optional(),
  OWNER_PASSWORD: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH).optional(),
  OWNER_EMAIL: z.email({ pattern: z.regexes.html5Email }).default('owner@localhost'),
  ENCRYPTION_KEY: z.string().optional(),
  ENCRYPTION_KEY_PREVIOUS: z.string().optional(),
  INVITE_EXPIRES_DAYS: z.coerce.number().positive().max(365).default(7),

  // The word says what an empty value cannot: not even the launcher's default is allowed.
  EGRESS_ALLOW: list()
    .transform((items) => (items.length === 1 && items[0] === 'none' ? [] : items))
    .pipe(z.array(cidr)),
  EGRESS_DENY: list().pipe(z.array(hostAndPort)),
  CHAT_WEBHOOK_URL: z.url({ protocol: /^https?$/ }).optional(),
  ALERT_EMAIL: z.email({ pattern: z.regexes.html5Email }).optional(),
  EMAIL_API_KEY: z.string().optional(),
  EMAIL_API_URL: z.url({ protocol: /^https?$/ }).default('https://api.resend.com'),
  SLACK_API_URL: z.url({ protocol: /^https?$/ }).default('https://slack.com/api'),
  EMAIL_FROM: z.string().default(`${PRODUCT_NAME} <workflows@localhost.localdomain>`),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  GOOGLE_API_KEY: z.string().optional(),
  GOOGLE_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  COMPATIBLE_API_KEY: z.string().optional(),
  COMPATIBLE_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),

  OTEL_SDK_DISABLED: otelFlag,
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: otlpHeaders.optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds.default(10_000),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: milliseconds.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().default(OTLP_PROTOCOL),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional(),
  OTEL_TRACES_SAMPLER: z.string().default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.string().optional(),
  OTEL_BSP_SCHEDULE_DELAY: positiveInt(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: positiveInt(2_048),
});

/** Settings with credentials. A file that `<name>_FILE` names can contain the value, and no output shows it. */
export const secretVariables = [
  'DATABASE_URL',
  'SECRET_KEY',
  'OWNER_PASSWORD',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
  'CHAT_WEBHOOK_URL',
  'EMAIL_API_KEY',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'COMPATIBLE_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  // Read by the Temporal SDK.
  'TEMPORAL_API_KEY',
] as const;

type Environment = z.infer<typeof environmentSchema>;

/** The alert channels that the service configures, for its first workspace. */
function alertChannelsOf(e: Environment): AlertChannel[] {
  const email = e.EMAIL_API_KEY !== undefined && e.ALERT_EMAIL !== undefined;
  return [
    ...(e.CHAT_WEBHOOK_URL === undefined ? [] : (['chat'] as const)),
    ...(email ? (['email'] as const) : []),
  ];
}

function temporalSettings(e: Environment) {
  const embedded =
    e.TEMPORAL_ADDRESS === undefined ? `http://127.0.0.1:${e.TEMPORAL_UI_PORT}` : undefined;
  return {
    address: e.TEMPORAL_ADDRESS,
    port: e.TEMPORAL_PORT,
    uiPort: e.TEMPORAL_UI_PORT,
    /** Undefined when no UI of an external server is configured. */
    uiUrl: (e.TEMPORAL_UI_URL ?? embedded)?.replace(/\/+$/, ''),
    readableNames: e.TEMPORAL_READABLE_NAMES,
    taskQueuePrefix: e.TASK_QUEUE_PREFIX,
  };
}

/** Undefined without a collector: then no traces are exported. */
function tracingOf(e: Environment) {
  const base = e.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    e.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (url === undefined || e.OTEL_SDK_DISABLED) return undefined;
  return {
    url,
    headers: { ...e.OTEL_EXPORTER_OTLP_HEADERS, ...e.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs: e.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? e.OTEL_EXPORTER_OTLP_TIMEOUT,
    protocol: e.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? e.OTEL_EXPORTER_OTLP_PROTOCOL,
    sampler: e.OTEL_TRACES_SAMPLER,
    samplerArg: e.OTEL_TRACES_SAMPLER_ARG,
    delayMs: e.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: e.OTEL_BSP_MAX_QUEUE_SIZE,
  };
}

function apiSettings(e: Environment) {
  const host = e.API_HOST === '0.0.0.0' || e.API_HOST === '::' ? '127.0.0.1' : e.API_HOST;
  return {
    host: e.API_HOST,
    port: e.API_PORT,
    publicUrl: (e.PUBLIC_URL ?? `http://${host}:${e.API_PORT}`).replace(/\/+$/, ''),
    /** The server in the OpenAPI documents; undefined if only the caller knows the service's address. */
    documentedUrl: e.PUBLIC_URL?.replace(/\/+$/, ''),
    corsOrigins: e.CORS_ORIGINS,
    trustedProxies: e.TRUSTED_PROXIES,
    rateLimitPerMinute: e.RATE_LIMIT_PER_MINUTE,
    dataRateLimitPerMinute: e.DATA_RATE_LIMIT_PER_MINUTE,
    dataKeyFailuresPerMinute: e.DATA_KEY_FAILURES_PER_MINUTE,
    streamSockets: {
      perMember: e.STREAM_SOCKETS_PER_MEMBER,
      perMemberAndRun: e.STREAM_SOCKETS_PER_MEMBER_AND_RUN,
      perAddress: e.STREAM_SOCKETS_PER_ADDRESS,
      perAddressAndRun: e.STREAM_SOCKETS_PER_ADDRESS_AND_RUN,
      perRun: e.STREAM_SOCKETS_PER_RUN,
      perWorkspace: e.STREAM_SOCKETS_PER_WORKSPACE,
      perProcess: e.STREAM_SOCKETS_PER_PROCESS,
    },
    metricsAllow: e.METRICS_ALLOW,
  };
}

type Variables = Record<string, string | undefined>;

/** The environment of this process, which `settleEnvironment` completes. */
export const ownEnvironment: Variables = process.env;

/** The variables that are set. An empty one counts as unset. */
const present = (env: Variables): Variables =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

/**
 * Removes empty variables, so that they also count as unset for packages and threads that read the environment
 * themselves. Some packages throw at an empty variable when they are loaded, so a process that loads them imports
 * `settled-environment.ts` first.
 */
export function removeEmptyVariables(env: Variables): void {
  const kept = present(env);
  for (const name of Object.keys(env)) if (!(name in kept)) delete env[name];
}

/** Parses an environment. Throws one Error that lists every invalid variable, without its value. */
export function loadConfig(env: Variables = process.env) {
  const parsed = environmentSchema.safeParse(present(env));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The configuration is invalid:\n  ${lines.join('\n  ')}`);
  }
  const e = parsed.data;
  return {
    production: e.NODE_ENV === 'production',
    logLevel: e.LOG_LEVEL,
    dataDir: resolve(e.DATA_DIR),
    seed: e.SEED,
    api: apiSettings(e),
    database: { url: e.DATABASE_URL, poolSize: e.DATABASE_POOL_SIZE, port: e.POSTGRES_PORT },
    temporal: temporalSettings(e),
    worker: {
      bundlePath: e.WORKFLOW_BUNDLE,
      maxCachedWorkflows: e.MAX_CACHED_WORKFLOWS,
      maxConcurrentSteps: e.MAX_CONCURRENT_STEPS,
      maxStepsInFlightPerRun: e.MAX_STEPS_IN_FLIGHT_PER_RUN,
      heartbeatTimeoutMs: e.HEARTBEAT_TIMEOUT_SECONDS * 1000,
      workflowTaskTimeoutMs: e.WORKFLOW_TASK_TIMEOUT_SECONDS * 1000,
      shutdownGraceMs: e.SHUTDOWN_GRACE_SECONDS * 1000,
      metricsHost: e.WORKER_METRICS_HOST,
      metricsPort: e.WORKER_METRICS_PORT,
    },
    reconcile: {
      intervalMs: e.RECONCILE_INTERVAL_SECONDS * 1000,
      graceMs: e.RECONCILE_GRACE_SECONDS * 1000,
    },
    recheckMs: e.RECHECK_SECONDS * 1000,
    deliveries: { backoffMs: e.DELIVERY_BACKOFF_SECONDS * 1000 },
    auth: {
      mode: e.AUTH_MODE,
      secretKey: e.SECRET_KEY,
      ownerEmail: e.OWNER_EMAIL,
      ownerPassword: e.OWNER_PASSWORD,
      inviteTtlMs: e.INVITE_EXPIRES_DAYS * 86_400_000,
    },
    encryptionKey: e.ENCRYPTION_KEY,
    previousEncryptionKey: e.ENCRYPTION_KEY_PREVIOUS,
    egressAllow: e.EGRESS_ALLOW,
    egressDeny: e.EGRESS_DENY,
    chatWebhookUrl: e.CHAT_WEBHOOK_URL,
    email: { apiKey: e.EMAIL_API_KEY, apiUrl: e.EMAIL_API_URL, from: e.EMAIL_FROM },
    slackApiUrl: e.SLACK_API_URL.replace(/\/+$/, ''),
    alerts: { channels: alertChannelsOf(e), email: e.ALERT_EMAIL },
    models: {
      openai: { apiKey: e.OPENAI_API_KEY, baseUrl: e.OPENAI_BASE_URL },
      anthropic: { apiKey: e.ANTHROPIC_API_KEY, baseUrl: e.ANTHROPIC_BASE_URL },
      google: { apiKey: e.GOOGLE_API_KEY, baseUrl: e.GOOGLE_BASE_URL },
      compatible: { apiKey: e.COMPATIBLE_API_KEY, baseUrl: e.COMPATIBLE_BASE_URL },
    },
    tracing: tracingOf(e),
  };
}

export type Config = ReturnType<typeof loadConfig>;
