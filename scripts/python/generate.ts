import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { classModule } from './classes.ts';
import type { OpenApi } from './document.ts';
import { methodsOf } from './methods.ts';
import { modelsModule } from './models.ts';
import { dataOperations, operations } from './names.ts';

const projectDir = join(import.meta.dirname, '../..');
const sources = 'clients/python/src/durable_workflows';

const read = (path: string): string => readFileSync(join(projectDir, path), 'utf8');

/** The generated files of the Python client, by their paths in the project. */
export function pythonFiles(): Record<string, string> {
  const ops = JSON.parse(read('docs/openapi/ops.json')) as OpenApi;
  const data = JSON.parse(read('docs/openapi/data.json')) as OpenApi;
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const apis = [
    { methods: methodsOf(ops, operations), part: '', models: 'models', api: 'the operations API' },
    {
      methods: methodsOf(data, dataOperations),
      part: 'data_',
      models: 'data_models',
      api: 'the data API',
    },
  ];
  const classes = apis.flatMap(({ methods, part, models, api }) =>
    [false, true].map((asynchronous) => {
      const kind = part === '' ? 'Operations' : 'DataOperations';
      const about = `A method for each operation of ${api}${asynchronous ? ', to await' : ''}.`;
      const name = `${asynchronous ? 'Async' : ''}${kind}`;
      const path = `${sources}/_${asynchronous ? 'async_' : ''}${part}operations.py`;
      return [path, classModule(methods, { name, about, models, asynchronous })] as const;
    }),
  );
  return {
    [`${sources}/models.py`]: modelsModule(ops, 'The records of the operations API.'),
    [`${sources}/data_models.py`]: modelsModule(data, 'The records of the data API.'),
    ...Object.fromEntries(classes),
    [`${sources}/_version.py`]: `"""Generated: see CONTRIBUTING.md."""\n\n__version__ = "${version}"\n`,
    'clients/python/LICENSE': read('LICENSE'),
  };
}
