import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { environmentSchema, loadConfig } from '#shared/platform/config.ts';
import { settleEnvironment } from '#shared/platform/settings-files.ts';
import { createValidator, type Manifest, manifestsIn } from '#test/chart/manifests.ts';
import { wrongValues } from '#test/chart/wrong-values.ts';
import { provideHelm } from './setup/helm.mjs';
import { messageOf } from './stack/output.ts';

/**
 * `npm run test:chart`: renders the Helm chart with each file in its folder `ci`, validates what comes out against the
 * OpenAPI document of Kubernetes, and gives it wrong values. Exits with 1 if a check fails. See docs/testing.md.
 */

const projectDir = join(import.meta.dirname, '..');
const chart = join(projectDir, 'deploy/helm/durable-workflows');
/** That of the OpenAPI document, and newer than a Helm without build flags assumes. */
const KUBE_VERSION = '1.30.0';
const execute = promisify(execFile);
const helm = await provideHelm(projectDir);
const tally = { passed: 0, failed: 0 };

async function check(title: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    tally.passed += 1;
    console.log(`PASS ${title}`);
  } catch (error) {
    tally.failed += 1;
    console.log(`FAIL ${title}: ${messageOf(error)}`);
  }
}

const render = async (values: string): Promise<Manifest[]> => {
  const args = [
    'template',
    'flows',
    chart,
    '--namespace',
    'flows',
    '--kube-version',
    KUBE_VERSION,
    '--values',
    values,
  ];
  const { stdout } = await execute(helm, args, { maxBuffer: 16 * 1_048_576 });
  return manifestsIn(stdout);
};

function requireThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

const PART = 'app.kubernetes.io/component';

/** What every rendering has in common. */
function checkRules(manifests: Manifest[]): void {
  const templates = manifests.flatMap(({ kind, spec }) =>
    (kind === 'Deployment' || kind === 'Job') && spec?.template !== undefined
      ? [spec.template]
      : [],
  );
  requireThat(templates.length >= 2, 'there are fewer than two kinds of pods');
  for (const { spec } of templates) {
    requireThat(spec.securityContext?.runAsNonRoot === true, 'a pod can run as root');
    requireThat(spec.automountServiceAccountToken === false, 'a pod has a token of the cluster');
    for (const { name, securityContext, resources, env } of spec.containers) {
      requireThat(
        securityContext?.readOnlyRootFilesystem === true,
        `${name} can write to its root`,
      );
      requireThat(securityContext?.capabilities?.drop?.[0] === 'ALL', `${name} has capabilities`);
      requireThat(resources?.limits?.memory !== undefined, `${name} has no memory limit`);
      for (const variable of env) checkVariable(variable);
    }
  }
  const parts = new Set(templates.map(({ metadata }) => metadata.labels[PART]));
  for (const { kind, metadata, spec } of manifests) {
    if (kind !== 'Service') continue;
    requireThat(parts.has(spec?.selector?.[PART]), `the service ${metadata.name} selects no pod`);
  }
}

function checkVariable({ name, value }: { name: string; value?: string }): void {
  const known = name in environmentSchema.shape || /^(?:TEMPORAL|OTEL|NODE)_/.test(name);
  requireThat(known, `${name} is no setting`);
  const isCredential = /KEY$|PASSWORD|DATABASE_URL/.test(name);
  requireThat(!isCredential || value === undefined, `${name} is in the open`);
}

/** The service itself reads the settings. */
function checkSettings(manifests: Manifest[]): void {
  const texts = manifests.flatMap(({ data }) => data?.['settings.yaml'] ?? []);
  requireThat(texts.length === 1, 'there is not one config map with settings');
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, texts[0]!);
  const env = { CONFIG_FILE: file };
  settleEnvironment(env);
  const { auth } = loadConfig(env);
  requireThat(auth.mode === 'required', 'no sign-in is required');
}

const folder = mkdtempSync(join(tmpdir(), 'chart-'));
const validate = createValidator();
try {
  for (const name of readdirSync(join(chart, 'ci')).toSorted()) {
    const values = join(chart, 'ci', name);
    await check(`${name} is rendered, and is valid`, async () => {
      await execute(helm, [
        'lint',
        '--strict',
        '--quiet',
        '--kube-version',
        KUBE_VERSION,
        chart,
        '--values',
        values,
      ]);
      const manifests = await render(values);
      const problems = manifests.flatMap(validate);
      requireThat(problems.length === 0, problems.join('\n  '));
      checkRules(manifests);
      checkSettings(manifests);
    });
  }
  for (const [title, values, message] of wrongValues) {
    await check(`values ${title} are refused with the reason`, async () => {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, stringify(values));
      const said = await render(file).then(
        () => 'nothing',
        (error: unknown) => (error as { stderr: string }).stderr,
      );
      requireThat(message.test(said), said);
    });
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;
