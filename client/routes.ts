import type { paths } from './openapi.ts';
import type {
  CustomTool,
  EventReceipt,
  MemberDetail,
  MemberStats,
  Member,
  NewSchedule,
  NewTemplate,
  NewTool,
  Role,
  Capability,
  Run,
  Schedule,
  Template,
  ToolTest,
  Webhook,
  WebhookConfig,
  Workflow,
} from './types.ts';

/**
 * What each route takes and answers. Most comes out of the API's description; a route that the description does not
 * hold is written here, and once it does, the description is what counts.
 */
interface Written {
  'GET /api/members': { query: Window; answer: Member[] };
  'POST /api/members/invite': {
    body: { name: string; email: string; role: Role };
    answer: Member;
  };
  'GET /api/members/{id}': { answer: MemberDetail };
  'PUT /api/members/{id}': { body: { role: Role }; answer: MemberDetail };
  'PATCH /api/members/{id}': { body: { role: Role }; answer: MemberDetail };
  'DELETE /api/members/{id}': { answer: undefined };
  'GET /api/members/{id}/stats': { answer: MemberStats };
  'PUT /api/members/{id}/permissions': { body: { overrides: Overrides }; answer: MemberDetail };
  'PATCH /api/members/{id}/permissions': { body: { overrides: Overrides }; answer: MemberDetail };
  'POST /api/members/{id}/approve': { answer: MemberDetail };

  'GET /api/schedules': { query: Window; answer: Schedule[] };
  'POST /api/schedules': { body: NewSchedule; answer: Schedule };
  'GET /api/schedules/{id}': { answer: Schedule };
  'PUT /api/schedules/{id}': { body: Partial<NewSchedule>; answer: Schedule };
  'DELETE /api/schedules/{id}': { answer: undefined };
  'POST /api/schedules/{id}/trigger': { answer: Run };

  'GET /api/tools': { query: Window; answer: CustomTool[] };
  'POST /api/tools': { body: NewTool; answer: CustomTool };
  'GET /api/tools/{id}': { answer: CustomTool };
  'PUT /api/tools/{id}': { body: Partial<NewTool>; answer: CustomTool };
  'DELETE /api/tools/{id}': { answer: undefined };
  'POST /api/tools/{id}/test': {
    body: { arguments?: Record<string, unknown> };
    answer: ToolTest;
  };

  'POST /api/workflows/{id}/webhook': { answer: { enabled: true; url: string } };
  'GET /api/workflows/{id}/webhook': { answer: Webhook };
  'DELETE /api/workflows/{id}/webhook': { answer: undefined };
  'PUT /api/workflows/{id}/webhook/config': { body: WebhookConfig; answer: Webhook };
  'POST /api/hooks/{workflow_id}/{secret}': { body: unknown; answer: EventReceipt };

  'GET /api/templates': { answer: Template[] };
  'POST /api/templates': { body: NewTemplate; answer: Template };
  'GET /api/templates/{id}': { answer: Template };
  'PUT /api/templates/{id}': { body: Partial<NewTemplate>; answer: Template };
  'DELETE /api/templates/{id}': { answer: undefined };
  'POST /api/templates/{id}/instantiate': { body: { name?: string }; answer: Workflow };
}

interface Window {
  limit?: number;
  offset?: number;
}

type Overrides = Partial<Record<Capability, boolean | null>>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Operations = {
  [Path in keyof paths as `${MethodOf<paths[Path]>} ${Path}`]: paths[Path];
};
type MethodOf<Item> = {
  [M in Method]: Lowercase<M> extends keyof Item
    ? Item[Lowercase<M>] extends object
      ? M
      : never
    : never;
}[Method];

/** `<METHOD> <path with its parameters in braces>`. */
export type Route = keyof Operations | keyof Written;

type OperationOf<R> = R extends keyof Operations
  ? R extends `${infer M} ${string}`
    ? Lowercase<M> extends keyof Operations[R]
      ? Operations[R][Lowercase<M>]
      : never
    : never
  : never;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The JSON body of a 2xx answer; undefined where there is none. */
export type AnswerOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { responses: infer Responses }
    ? Json<Responses[keyof Responses]>
    : never
  : R extends keyof Written
    ? Written[R]['answer']
    : never;

export type BodyOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { requestBody?: infer Content }
    ? Json<NonNullable<Content>>
    : undefined
  : R extends keyof Written
    ? Written[R] extends { body: infer Body }
      ? Body
      : undefined
    : never;

export type QueryOf<R extends Route> = R extends keyof Operations
  ? OperationOf<R> extends { parameters: { query?: infer Query } }
    ? NonNullable<Query>
    : never
  : R extends keyof Written
    ? Written[R] extends { query: infer Query }
      ? Query
      : never
    : never;
