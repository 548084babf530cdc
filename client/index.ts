export { type BuiltWorkflow, Chain, workflow, type WorkflowSettings } from './builder.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export {
  ApiError,
  ConnectionError,
  RunSkippedError,
  SignatureError,
  StreamError,
  WaitTimeoutError,
} from './errors.ts';
export { etagOf } from './request.ts';
export type { CallOptions, WriteOptions } from './request.ts';
export type { TriggerOptions } from './idempotency.ts';
export type { NodeTestOptions } from './node-tests.ts';
export type { AnswerOf, BodyOf, QueryOf, Route } from './routes.ts';
export type { DecisionOptions } from './gates.ts';
export type {
  DryRunOptions,
  ForkOptions,
  RerunOptions,
  RunOptions,
  StartOptions,
  RunQuery,
  WaitOptions,
} from './runs.ts';
export {
  type Delivery,
  type InboundEvent,
  signInboundWebhook,
  verifyWebhook,
  type WebhookEvent,
} from './signatures.ts';
export type { FollowedEvent, RunEventsOptions } from './run-events.ts';
export type { Socket, SocketConstructor, StreamOptions, StreamRun } from './stream.ts';
export type * from './types.ts';
export type { EventOptions } from './webhooks.ts';
