import { createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { headers } from '#api/openapi/headers.ts';
import { contractTypes } from '#scripts/client/contract-types.ts';
import { randomText } from '#shared/crypto/ids.ts';
import { expectCommitted } from '#test/api/committed-file.ts';
import { addEndpoint } from '#test/api/data/records.ts';
import { invite } from '#test/support/people.ts';
import { type Answer, oneStep, startTestApi, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi({ ENCRYPTION_KEY: 'a key for the tests alone' });
// The tests read an OpenAPI document as plain JSON.
let document: any;
let dataDocument: any;
beforeAll(async () => {
  const read = async (path: string): Promise<unknown> => {
    const { status, text, body } = await api.call('GET', path);
    // Otherwise, an error would be written as the committed document.
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return body;
  };
  document = await read('/api/openapi.json');
  dataDocument = await read('/v1/openapi.json');
});

interface Operation {
  id: string;
  method: string;
  path: string;
  operation: any;
}

const operations = (of: { paths: object } = document): Operation[] =>
  Object.entries<any>(of.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

const bodyOf = (operation: any) => operation.requestBody?.content['application/json'];

/** The responses of an operation, with references resolved. */
const resolvedAnswers = (of: any, operation: any): Record<string, any> =>
  Object.fromEntries(
    Object.entries<any>(operation.responses).map(([status, answer]) => [
      status,
      answer.$ref === undefined ? answer : of.components.responses[answer.$ref.split('/').at(-1)],
    ]),
  );

const surfaces = {
  operations: { document: () => document, file: 'docs/openapi/ops.json', under: '/api/' },
  data: { document: () => dataDocument, file: 'docs/openapi/data.json', under: '/v1/' },
};

/** Errors with more than a message, by the operation. */
const OTHER_REFUSALS: Readonly<Record<string, string>> = {
  // The checks of the API run before those of the MCP protocol.
  mcp: 'McpRefusal',
  importTools: 'ImportRefused',
};

describe.each(Object.entries(surfaces))('the OpenAPI document of the %s API', (_name, surface) => {
  const { file, under } = surface;
  const all = () => operations(surface.document());
  const answersOf = (operation: any) => resolvedAnswers(surface.document(), operation);

  test('is version 3.1 and needs no credential', () => {
    expect(surface.document().openapi).toBe('3.1.0');
  });

  test('gives every operation a unique ID, a tag and a summary', () => {
    const ids = all().map((each) => each.id);
    expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = surface.document().tags.map((tag: { name: string }) => tag.name);
    for (const { operation } of all()) {
      expect(tags).toContain(operation.tags[0]);
      expect(operation.summary).toMatch(/\S/);
    }
  });

  test('documents errors of each operation in one shape', () => {
    for (const { id, operation } of all()) {
      if (id === 'getHealth' || id === 'getReadiness') continue;
      for (const status of ['400', '401', '403', '500', '503']) {
        const { schema } = answersOf(operation)[status].content['application/json'];
        const expected = (status === '400' ? OTHER_REFUSALS[id] : undefined) ?? 'Error';
        expect(schema).toEqual({ $ref: `#/components/schemas/${expected}` });
      }
      if (operation.parameters?.some((each: { in: string }) => each.in === 'path')) {
        expect(operation.responses).toHaveProperty('404');
      }
    }
  });

  test('documents 405 for every operation, and 413 and 415 for bodies', () => {
    for (const { id, method, operation } of all()) {
      const expected = method === 'GET' ? ['405'] : ['405', '413', '415'];
      // These operations accept any media type.
      const takesAny = id === 'receiveEvent' || id === 'receiveCallback';
      const statuses = expected.filter((status) => !takesAny || status !== '415');
      expect({ id, statuses: Object.keys(operation.responses) }).toEqual({
        id,
        statuses: expect.arrayContaining(statuses),
      });
      expect(answersOf(operation)['405'].headers).toHaveProperty('Allow');
    }
  });

  test('names the server from PUBLIC_URL', async () => {
    expect(surface.document().servers).toEqual([{ url: '/' }]);
    const elsewhere = await startTestApi({ PUBLIC_URL: 'https://flows.example.com/ops/' });
    const answer = await elsewhere.call('GET', `${under}openapi.json`);
    await elsewhere.stop();
    expect(answer.body.servers).toEqual([{ url: 'https://flows.example.com/ops' }]);
  });

  test('references exactly its components', () => {
    const refs = JSON.stringify(surface.document()).match(/(?<="\$ref":")[^"]+/g) ?? [];
    const held = Object.entries<object>(surface.document().components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`));
    expect([...new Set(refs)].sort()).toEqual(held.sort());
  });

  test('names every object schema, and gives every oneOf a discriminator', () => {
    const { schemas } = surface.document().components;
    const inline: string[] = [];
    const walk = (value: any, path: string, isNamed: boolean): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!isNamed && value.properties !== undefined && !path.endsWith('/properties')) {
        inline.push(path);
      }
      for (const [key, each] of Object.entries(value)) {
        if (key !== 'example' && key !== 'examples') walk(each, `${path}/${key}`, false);
      }
    };
    for (const [name, schema] of Object.entries<any>(schemas)) {
      walk(schema, name, true);
      if (schema.oneOf !== undefined) expect(schema).toHaveProperty('discriminator');
    }
    walk(surface.document().paths, 'paths', false);
    expect(inline).toEqual([]);
  });

  test('has only portable patterns', () => {
    const patterns = JSON.stringify(surface.document()).match(/(?<="pattern":)"(?:[^"\\]|\\.)*"/g);
    for (const pattern of patterns ?? []) {
      // No Unicode classes, look-around, named groups or flags.
      expect(JSON.parse(pattern)).not.toMatch(/\\[pP]|\(\?[^:]/);
    }
  });

  test('is the committed one', () => {
    expectCommitted(file, `${JSON.stringify(surface.document(), null, 2)}\n`);
  });

  test('contains no paths of the other API', () => {
    const paths = Object.keys(surface.document().paths);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !path.startsWith(under))).toEqual([]);
  });
});

describe('the OpenAPI document of the data API', () => {
  test('documents only bearer and X-API-Key authentication', () => {
    expect(dataDocument.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(dataDocument.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    });
  });

  test('wraps every JSON response in the envelope', () => {
    for (const { id, operation } of operations(dataDocument)) {
      for (const [status, answer] of Object.entries<any>(operation.responses)) {
        const schema = answer.content?.['application/json']?.schema;
        if (!status.startsWith('2') || schema === undefined) continue;
        const { properties } = dataDocument.components.schemas[schema.$ref.split('/').at(-1)];
        expect({ id, fields: Object.keys(properties) }).toEqual({
          id,
          fields: ['data', 'pagination', 'meta'],
        });
      }
    }
  });

  test('has types for programs, as committed', async () => {
    const banner = `// Written by \`npm run openapi:dump\` from ${surfaces.data.file}. Not to be changed by hand.\n\n`;
    const text = banner + (await contractTypes(JSON.stringify(dataDocument)));
    expectCommitted('examples/data-client/openapi.ts', text);
  });
});

/** Headers that need no description: those of HTTP itself, and those that control browsers. */
const serverManaged =
  /^(access-control-.*|cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|referrer-policy|transfer-encoding|vary|x-content-type-options|x-frame-options)$/;

function expectDescribedHeaders(id: string, { headers }: Answer, { headers: said }: any): void {
  const lower = (names: string[]) => names.map((name) => name.toLowerCase());
  const undescribed = Object.keys(headers).filter(
    (name) => !serverManaged.test(name) && !lower(Object.keys(said)).includes(name),
  );
  const missing = lower(Object.keys(said)).filter(
    (name) => requiredHeaders.includes(name) && headers[name] === undefined,
  );
  expect({ id, undescribed, missing }).toEqual({ id, undescribed: [], missing: [] });
}

const requiredHeaders = Object.entries(headers)
  .filter(([, header]) => 'required' in header)
  .map(([name]) => name.toLowerCase());

describe('the OpenAPI examples', () => {
  const idFor = async (
    path: string,
    ids: { run: string; workflow: string; template: string },
  ): Promise<string> => {
    if (path.startsWith('/api/runs')) return ids.run;
    if (path.startsWith('/api/members')) return (await invite(api, { role: 'viewer' })).id;
    if (path.startsWith('/api/tools')) {
      // A closed port, so that testing the tool ends at once.
      const tool = { name: `t${randomText(10)}`, endpoint_url: 'http://127.0.0.1:9/' };
      return (await api.call('POST', '/api/tools', tool)).body.id;
    }
    if (path.startsWith('/api/schedules/')) {
      const { body } = await api.call('POST', '/api/schedules', {
        workflow_id: ids.workflow,
        cron: '@yearly',
      });
      return body.id;
    }
    if (path.startsWith('/api/connections/')) {
      const connection = {
        ...{ name: `C${randomText(10).toUpperCase()}`, client_id: 'x', client_secret: 'x' },
        ...{ preset: 'github' },
      };
      return (await api.call('POST', '/api/connections', connection)).body.id;
    }
    if (path.startsWith('/api/triggers/')) {
      const url = `/api/workflows/${ids.workflow}/triggers`;
      return (await api.call('POST', url, { event: 'x.happened' })).body.id;
    }
    if (path.startsWith('/api/data/feeds')) {
      return (await api.call('POST', '/api/data/feeds', { name: 'x' })).body.id;
    }
    if (path.startsWith('/api/data/sources')) {
      const source = { name: randomText(10), type: 'portal' };
      return (await api.call('POST', '/api/data/sources', source)).body.id;
    }
    if (path.startsWith('/api/webhooks')) return addEndpoint(api);
    if (path.startsWith('/api/templates')) return ids.template;
    if (!path.startsWith('/api/budgets')) return ids.workflow;
    const { body } = await api.call('POST', '/api/budgets', { name: 'x', limit_usd: 1_000 });
    return body.id;
  };
  const hookPath = async (workflowId: string): Promise<string> =>
    new URL((await api.call('POST', `/api/workflows/${workflowId}/webhook`)).body.url).pathname;
  const pathsOfExamples = async (path: string): Promise<string> => {
    const { body: workflow } = await api.call('POST', '/api/workflows', {
      name: 'x',
      graph: oneStep,
    });
    const { body: run } = await api.call('POST', `/api/workflows/${workflow.id}/runs`, {
      ticket: 'x',
    });
    if (path.startsWith('/api/hooks/')) return hookPath(workflow.id as string);
    if (path.startsWith('/api/callbacks/')) {
      const tokens = createCallbackTokens(api.config)!;
      return `/api/callbacks/${tokens.tokenOf({ runId: run.id as string, stepKey: 'answer' })}`;
    }
    const { body: template } = await api.call('POST', '/api/templates', {
      name: 'x',
      graph: oneStep,
    });
    const ids = { run: run.id, workflow: workflow.id, template: template.id };
    return path
      .replace('{id}', await idFor(path, ids))
      .replace('{version}', '1')
      .replace('{name}', 'CRM_KEY')
      .replace('{node_id}', 'answer');
  };

  test('are accepted unchanged', async () => {
    // Valid, but refused by the state: without a worker no gate opens and no budget stops a run, no one has signed up,
    // the invitation does not exist, and the owner has no session.
    const refusedByState: Record<string, number> = {
      assignGate: 409,
      decideGate: 409,
      overrideBudget: 409,
      login: 401,
      acceptInvite: 400,
      changePassword: 403,
      // Name an unknown client.
      authorizeClient: 400,
      previewAuthorization: 400,
      // Names an unknown workflow.
      createSchedule: 404,
      // Names an unknown feed.
      ingestRecords: 404,
      // Name an unknown link.
      openDecideLink: 404,
      decideByLink: 404,
      // Names an unknown run.
      savePin: 404,
      // Names an unknown event.
      replayInboundEvent: 404,
      // Without a worker, the run has no step.
      forkRun: 422,
      // No account of Slack has asked.
      confirmSlackAccount: 409,
      // There is no draft.
      startExperiment: 404,
      // No server is there.
      // Names a tool without an API document.
      refreshTool: 400,
      importTools: 400,
    };
    let executed = 0;
    for (const { id, method, path, operation } of operations()) {
      const example = bodyOf(operation)?.example;
      if (example === undefined) continue;
      const answer = await api.call(method, await pathsOfExamples(path), example);
      const refusal = refusedByState[id];
      const expected = refusal === undefined ? [200, 201, 202] : [refusal];
      expect({ id, ok: expected.includes(answer.status), body: answer.body }).toMatchObject({
        id,
        ok: true,
      });
      expect(answer.body.detail ?? '').not.toMatch(/^Invalid/);
      expectDescribedHeaders(id, answer, resolvedAnswers(document, operation)[answer.status]);
      executed += 1;
    }
    expect(executed).toBe(73);
    // Without a worker, the test of a node uses up its waiting time.
  }, 60_000);

  test('exist for every non-empty body', () => {
    const without = operations().filter(
      ({ operation }) => bodyOf(operation) !== undefined && bodyOf(operation).example === undefined,
    );
    expect(without.map((each) => each.id).sort()).toEqual([
      'approveMember',
      'cancelBacktest',
      'cancelEventReplay',
      'cancelExperiment',
      'cancelRun',
      'enableWebhook',
      'pingWebhookEndpoint',
      'publishWorkflow',
      'redeliverWebhookDelivery',
      'renewInvite',
      'resumeRun',
      'rotateWebhookEndpointSecret',
      'testAlerts',
      'triggerSchedule',
      'validateWorkflow',
    ]);
  });

  test('every route without parameters answers as documented', async () => {
    for (const { method, path, operation } of operations()) {
      if (method !== 'GET' || path.includes('{')) continue;
      const answer = await api.call('GET', path);
      expect(operation.responses).toHaveProperty(String(answer.status));
    }
  });
});

describe('the evidence of a record', () => {
  test('is returned as sent, and matches its schema', async () => {
    const { body: feed } = await api.call('POST', '/api/data/feeds', { name: 'Permits' });
    const nothingKnown = { source_id: null, source_name: null, url: null, retrieved_at: null };
    const record = {
      type: 'entity',
      external_key: 'permit-1',
      entity_type: 'project',
      canonical_name: 'Riverside Tower',
      attributes: {},
      source_evidence: [nothingKnown, {}],
    };
    const sent = await api.call('POST', '/api/data/ingest', {
      feed_id: feed.id,
      records: [record],
    });
    expect(sent.body).toMatchObject({ created: 1, refused: 0 });
    const list = await api.call('GET', `/api/data/entities?feed_id=${feed.id}`);
    expect(list.body.entities[0].source_evidence).toEqual([
      { ...nothingKnown, synthetic: false },
      { synthetic: false },
    ]);
    for (const { components } of [document, dataDocument]) {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: 'document', components });
      const isEntity = ajv.compile({ $ref: 'document#/components/schemas/Entity' });
      expect({ ok: isEntity(list.body.entities[0]), errors: isEntity.errors }).toEqual({
        ok: true,
        errors: null,
      });
    }
  });
});

describe('the reference page', () => {
  const page = async () => api.call('GET', '/docs/');

  test('has no external URLs', async () => {
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/(src|href)="\/\//);
    expect(text).toContain('/api/openapi.json');
    expect(text).toContain('/v1/openapi.json');
  });

  test('loads its script locally', async () => {
    const { text } = await page();
    const src = /<script src="([^"]+)"/.exec(text)?.[1] ?? '';
    const script = await api.call('GET', new URL(src, 'http://x/docs/').pathname);
    expect([script.status, script.headers['content-type']]).toEqual([
      200,
      'application/javascript; charset=utf-8',
    ]);
    expect(script.text.length).toBeGreaterThan(100_000);
  });

  test('has a policy that allows only its scripts', async () => {
    const { headers, text } = await page();
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self'(?: 'sha256-[A-Za-z0-9+/=]+')+(;|$)/);
    expect(policy).toMatch(/connect-src 'self'(;|$)/);
    expect(policy).not.toMatch(/https?:/);
    const inline = [...text.matchAll(/<script(?![^>]*\ssrc=)[^>]*>/g)];
    expect(inline).toHaveLength(2);
  });

  test('redirects to its trailing slash', async () => {
    const { status, headers } = await api.call('GET', '/docs');
    expect([status, headers['location']]).toEqual([301, '/docs/']);
  });
});
