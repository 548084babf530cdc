/** Sends a request and returns the body; throws unless the status is 2xx. */
type Call = (method: string, url: string, payload?: unknown) => Promise<any>;

const rowsOf = (body: any): any[] =>
  [body, ...Object.values(body)].find((each) => Array.isArray(each)) ?? [];

/**
 * Sends every read among `routes` (`GET /path/{parameter}`), for up to ten rows of its list. Returns the number of requests.
 * Data of every kind must exist.
 */
export async function readEverything(call: Call, routes: readonly string[]): Promise<number> {
  let asked = 0;
  const drafted = (await call('GET', '/api/workflows'))[0].id;
  await call('PUT', `/api/workflows/${drafted}/draft`, {});
  await call('GET', `/api/workflows/${drafted}/draft`);
  await call('GET', `/api/workflows/${drafted}/experiments`);
  // Experiments, triggers, inbound events and their replays are listed by workflow, and gates are read by step. The list returns
  // deliveries in the same form, and only some workflows have a draft, some agents messages. Callbacks have no list.
  const read = routes.filter((each) =>
    /^GET (?!.*(\/stream|\{delivery_id\}|\/messages|\/draft|gates\/\{step_key\}|experiments\/\{id\}|api\/triggers\/\{id\}|inbound-events\/\{id\}|callbacks\/\{token\}|event-replays\/\{id\})$)/u.test(
      each,
    ),
  );
  for (const route of read) {
    const path = route.slice(4);
    const [collection = '', rest] = path.split(/\/\{\w+\}/u, 2);
    const rows = rest === undefined ? [{ id: '' }] : rowsOf(await call('GET', collection));
    for (const { id, name } of rows.slice(0, 10)) {
      const url = path.replace(/\{\w+\}/u, id ?? name).replace('{version}', '1');
      const query = url.endsWith('/diff') ? '?from=1&to=1' : '';
      if (url !== '/api/runs/export') await call('GET', `${url}${query}`);
      asked += 1;
    }
  }
  return asked;
}
