/**
 * The orders of the demo data, with mistakes for the templates to find: A-1042 was paid twice, A-1038 has no country,
 * and the status of A-1040 is misspelled.
 */
const orders = [
  ['A-1031', 'Cedar Contracting 12', 'Monthly plan', 24, 1, 'paid', 'Dallas', 'US'],
  ['A-1032', 'Summit Builders 3', 'Yearly plan', 240, 1, 'paid', 'Denver', 'US'],
  ['A-1033', 'Harbor Partners 41', 'Setup', 90, 1, 'paid', 'Miami', 'US'],
  ['A-1034', 'Union Properties 8', 'Monthly plan', 24, 1, 'canceled', 'Tampa', 'US'],
  ['A-1035', 'Granite Development 5', 'Yearly plan', 240, 1, 'paid', 'Boston', 'US'],
  ['A-1036', 'Prairie Construction 77', 'Training', 450, 1, 'open', 'Chicago', 'US'],
  ['A-1037', 'Orchard Builders 20', 'Monthly plan', 24, 1, 'paid', 'Seattle', 'US'],
  ['A-1038', 'Foundry Partners 16', 'Yearly plan', 240, 1, 'paid', 'Portland', null],
  ['A-1039', 'Lakeview Contracting 2', 'Setup', 90, 1, 'paid', 'Atlanta', 'US'],
  ['A-1040', 'Riverside Development 33', 'Monthly plan', 24, 1, 'payed', 'Phoenix', 'US'],
  ['A-1041', 'Cedar Builders 64', 'Training', 450, 1, 'paid', 'Houston', 'US'],
  ['A-1042', 'Harbor Development 9', 'Yearly plan', 240, 2, 'paid', 'Austin', 'US'],
] as const;

/** The orders as records, a day apart. `evidenceOf` gets the path of an order and the time at which it was read. */
export const orderRecords = (evidenceOf: (path: string, retrievedAt: string) => object[]) =>
  orders.map(([number, customer, product, amount_usd, payments, status, city, country], day) => {
    const seen = new Date(Date.UTC(2025, 10, 1 + day, 9)).toISOString();
    return {
      type: 'entity' as const,
      external_key: number,
      entity_type: 'order',
      canonical_name: `Order ${number}`,
      attributes: { customer, product, amount_usd, payments, status },
      external_ids: { order_number: number },
      geography: { city, country },
      verification_status: 'machine_verified',
      confidence: 1,
      source_evidence: evidenceOf(`shop.example.com/orders/${number}`, seen),
      observed_at: seen,
    };
  });
