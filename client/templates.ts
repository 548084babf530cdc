import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { Template, Workflow } from './types.ts';

export function templateMethods(send: Send) {
  return {
    /** Built-in templates and those of the workspace. */
    listTemplates: (options?: CallOptions): Promise<Template[]> =>
      wholeList((query) => send('GET /api/templates', [], { query, options }), {}),
    createTemplate: (
      body: BodyOf<'POST /api/templates'>,
      options?: CallOptions,
    ): Promise<Template> => send('POST /api/templates', [], { body, options }),
    getTemplate: (templateId: string, options?: CallOptions): Promise<Template> =>
      send('GET /api/templates/{id}', [templateId], { options }),
    updateTemplate: (
      templateId: string,
      body: BodyOf<'PUT /api/templates/{id}'>,
      options?: WriteOptions,
    ): Promise<Template> => send('PUT /api/templates/{id}', [templateId], { body, options }),
    deleteTemplate: (templateId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/templates/{id}', [templateId], { options }),
    /** Creates a workflow from the template. */
    instantiateTemplate: (
      templateId: string,
      body: BodyOf<'POST /api/templates/{id}/instantiate'> = {},
      options?: CallOptions,
    ): Promise<Workflow> =>
      send('POST /api/templates/{id}/instantiate', [templateId], { body, options }),
  };
}
