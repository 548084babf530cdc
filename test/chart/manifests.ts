import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Ajv, type ValidateFunction } from 'ajv';
import { parseAllDocuments } from 'yaml';

interface Pod {
  automountServiceAccountToken?: boolean;
  securityContext?: { runAsNonRoot?: boolean };
  containers: {
    name: string;
    securityContext?: { readOnlyRootFilesystem?: boolean; capabilities?: { drop?: string[] } };
    resources?: { limits?: { memory?: string } };
    env: { name: string; value?: string }[];
  }[];
}

interface Spec {
  /** Of a Service. */
  selector?: Record<string, string>;
  /** Of a Deployment or a Job. */
  template?: { metadata: { labels: Record<string, string> }; spec: Pod };
}

/** An object as a chart renders it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Spec;
  data?: Record<string, string>;
}

/** Objects of other programs, which Kubernetes' document does not describe. */
const FOREIGN = new Set([
  'keda.sh/v1alpha1 ScaledObject',
  'monitoring.coreos.com/v1 PodMonitor',
  'monitoring.coreos.com/v1 PrometheusRule',
]);

export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });

interface Definition {
  properties?: Record<string, unknown>;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

/** Validates objects against the OpenAPI document of Kubernetes itself, without keys that it does not have. */
export function createValidator(): (manifest: Manifest) => string[] {
  const file = join(import.meta.dirname, '../fixtures/openapi/kubernetes.json.br');
  const { definitions } = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as {
    definitions: Record<string, Definition>;
  };
  for (const definition of Object.values(definitions)) {
    if (definition.properties === undefined) continue;
    Object.assign(definition, { additionalProperties: false });
  }
  // Written as a text, and read as either.
  Object.assign(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']!, {
    type: ['integer', 'string'],
  });
  const quantity = definitions['io.k8s.apimachinery.pkg.api.resource.Quantity']!;
  Object.assign(quantity, { type: ['string', 'number'] });
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  const validators = new Map<string, ValidateFunction | undefined>();
  const validatorOf = (key: string): ValidateFunction | undefined => {
    if (!validators.has(key)) {
      const [name] =
        Object.entries(definitions).find(([, { [GVK]: kinds = [] }]) =>
          kinds.some(
            ({ group, version, kind }) =>
              `${group === '' ? '' : `${group}/`}${version} ${kind}` === key,
          ),
        ) ?? [];
      validators.set(
        key,
        name === undefined ? undefined : ajv.compile({ $ref: `kubernetes#/definitions/${name}` }),
      );
    }
    return validators.get(key);
  };
  return (manifest) => {
    const key = `${manifest.apiVersion} ${manifest.kind}`;
    if (FOREIGN.has(key)) return [];
    const validate = validatorOf(key);
    if (validate === undefined) return [`Kubernetes has no ${key}`];
    validate(manifest);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${key} ${manifest.metadata.name}: ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}

const GVK = 'x-kubernetes-group-version-kind';
