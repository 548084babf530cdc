// Exits with 0 if the URL responds with 2xx within 3 s. Default: the readiness of the API.
const url = process.argv[2] ?? 'http://127.0.0.1:8000/api/ready';
const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch((error) => error);
if (!answer.ok) {
  console.error(`${url}: ${answer.status ?? answer.cause?.code ?? answer.message}`);
  process.exit(1);
}
