const least = {
  publicUrl: 'https://workflows.example.com',
  existingSecret: 'workflows',
  temporal: { address: 'temporal:7233' },
};

/** Values that the chart refuses: what is wrong with them, and what Helm must say. */
export const wrongValues: [title: string, values: object, message: RegExp][] = [
  ['without an address', { ...least, publicUrl: '' }, /publicUrl/],
  ['without the secret', { ...least, existingSecret: '' }, /existingSecret/],
  ['without Temporal', { ...least, temporal: {} }, /temporal.*address/],
  ['with an address that is none', { ...least, temporal: { address: 'temporal' } }, /address/],
  ['with a name that is wrong', { ...least, worker: { replica: 3 } }, /replica/],
  ['with no replica', { ...least, api: { replicas: 0 } }, /replicas/],
  [
    'with a credential among the settings',
    { ...least, settings: { SECRET_KEY: 'hush' } },
    /settings\.SECRET_KEY is a credential: put it into existingSecret/,
  ],
  [
    'with a setting of the chart',
    { ...least, settings: { PUBLIC_URL: 'https://other.example.com' } },
    /settings\.PUBLIC_URL is set by the chart/,
  ],
  [
    'that keep every node from being drained',
    { ...least, api: { replicas: 1 } },
    /api\.podDisruptionBudget\.minAvailable must be less than the replicas/,
  ],
  [
    'that kill workers before their steps end',
    { ...least, settings: { SHUTDOWN_GRACE_SECONDS: 90 } },
    /terminationGracePeriodSeconds must be more than SHUTDOWN_GRACE_SECONDS \(90\)/,
  ],
  [
    'that scale from more to fewer',
    {
      ...least,
      worker: { autoscaling: { enabled: true, minReplicas: 30, prometheusAddress: 'http://p' } },
    },
    /worker\.autoscaling\.minReplicas is more than maxReplicas/,
  ],
  [
    'that scale without a Prometheus',
    { ...least, worker: { autoscaling: { enabled: true } } },
    /worker\.autoscaling\.prometheusAddress is required/,
  ],
];
