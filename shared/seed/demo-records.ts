import type { IngestRecord } from '#shared/contract/data/ingest.ts';
import { ingestRecord } from '#shared/contract/data/ingest.ts';
import { verificationStatuses } from '#shared/contract/data/envelope.ts';
import type { FeedInput } from '#shared/contract/data/feed.ts';
import type { SourceInput } from '#shared/contract/data/source.ts';
import { DEMO_ORDERS } from '#shared/templates/demo-orders.ts';
import { orderRecords } from './demo-orders.ts';

/** Pseudo-random numbers. The generated data is the same each time. */

type Draw = () => number;

/** Deterministic pseudo-random numbers from 0 to 1 (mulberry32). */
function createDraw(seed: number): Draw {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <Item>(draw: Draw, items: readonly Item[]): Item =>
  items[Math.floor(draw() * items.length)]!;
const whole = (draw: Draw, from: number, to: number): number =>
  from + Math.floor(draw() * (to - from + 1));
const share = (draw: Draw): number => Math.round((0.5 + draw() / 2) * 100) / 100;
/** A time in the year 2025. */
const time = (draw: Draw): string =>
  new Date(Date.UTC(2025, 0, 1) + whole(draw, 0, 364 * 24) * 3_600_000).toISOString();

const places = [
  ['Austin', 'TX', '78701'],
  ['Dallas', 'TX', '75201'],
  ['Houston', 'TX', '77002'],
  ['Phoenix', 'AZ', '85004'],
  ['Denver', 'CO', '80202'],
  ['Seattle', 'WA', '98101'],
  ['Portland', 'OR', '97204'],
  ['Atlanta', 'GA', '30303'],
  ['Miami', 'FL', '33131'],
  ['Tampa', 'FL', '33602'],
  ['Nashville', 'TN', '37203'],
  ['Charlotte', 'NC', '28202'],
  ['Chicago', 'IL', '60601'],
  ['Boston', 'MA', '02108'],
  ['San Diego', 'CA', '92101'],
  ['Sacramento', 'CA', '95814'],
] as const;
const streets = [
  'Oak St',
  'Main St',
  'Riverside Dr',
  'Congress Ave',
  'Harbor Blvd',
  'Mill Rd',
  'Station Way',
];
const names = [
  'Riverside',
  'Harbor',
  'Summit',
  'Cedar',
  'Lakeview',
  'Union',
  'Granite',
  'Prairie',
  'Orchard',
  'Foundry',
];
const buildings = [
  'Tower',
  'Commons',
  'Medical Center',
  'Logistics Park',
  'Apartments',
  'Campus',
  'Plaza',
  'Hotel',
];
const trades = ['Builders', 'Development', 'Contracting', 'Partners', 'Construction', 'Properties'];
const stages = ['planning', 'permitting', 'bidding', 'under_construction', 'completed'];

const company = (draw: Draw): string =>
  `${pick(draw, names)} ${pick(draw, trades)} ${whole(draw, 1, 99)}`;

function geographyOf(draw: Draw) {
  const [city, region, postal_code] = pick(draw, places);
  return { city, region, country: 'US', postal_code };
}

const evidence = (source: string, path: string, retrieved_at: string) => [
  {
    source_name: source,
    url: `https://${path}`,
    retrieved_at,
    synthetic: true,
  },
];

const assessed = (draw: Draw) => ({
  verification_status: pick(draw, verificationStatuses),
  confidence: share(draw),
});

const MATCHED = 'Demo data: matches every watch setting';
const PORTAL = 'Demo city permit portal';
const REGISTER = 'Demo company register';
const BIDS = 'Demo bid board';
const SHOP = 'Demo shop';

export const demoSources: SourceInput[] = [
  [PORTAL, 'permit_portal', 'US-TX', 'daily', 0.95],
  ['Demo county recorder', 'public_record', 'US-CA', 'weekly', 0.9],
  [BIDS, 'procurement_board', 'US', 'hourly', 0.85],
  [REGISTER, 'company_register', 'US-DE', 'weekly', 0.97],
  [SHOP, 'order_system', 'US', 'hourly', 1],
  ['Demo trade press', 'news', 'US', 'hourly', 0.6],
].map(([name, type, jurisdiction, cadence, reliability_score]) => ({
  name: name as string,
  type: type as string,
  jurisdiction: jurisdiction as string,
  cadence: cadence as string,
  permission_status: 'permitted',
  license_status: 'open',
  reliability_score: reliability_score as number,
  is_demo: true,
}));

/** A feed and its records, in order. The second occurrence of a record changes it. */
export interface DemoFeed {
  feed: FeedInput;
  records: () => IngestRecord[];
}

const feed = (name: string, description: string, types: string[], cadence: string): FeedInput => ({
  name,
  description,
  status: 'active',
  entity_types: types,
  schema: {},
  geography: { country: 'US' },
  specification: { cadence, sources: demoSources.map((source) => source.name) },
  is_demo: true,
});

export const demoFeeds: DemoFeed[] = [
  {
    feed: feed(
      'Demo construction projects',
      'Demo construction projects of sixteen cities, from planning to completion',
      ['project'],
      'daily',
    ),
    records: projectRecords,
  },
  {
    feed: feed(
      'Demo building permits',
      'Demo building permits of sixteen cities',
      ['permit'],
      'daily',
    ),
    records: permitRecords,
  },
  {
    feed: feed('Demo companies', 'Demo developers and contractors', ['company'], 'weekly'),
    records: companyRecords,
  },
  {
    feed: feed(
      DEMO_ORDERS,
      'Demo orders of a software shop, and their refunds',
      ['order', 'refund'],
      'hourly',
    ),
    records: () => parsed(orderRecords((path, at) => evidence(SHOP, path, at))),
  },
];

function projectRecords(): IngestRecord[] {
  const draw = createDraw(1);
  const projects = Array.from({ length: 2_400 }, (_, n) => project(draw, n));
  const moved = projects
    .filter((_, n) => n % 8 === 0)
    .flatMap((record, n) => {
      const won = { ...record, attributes: { ...record.attributes, ...awarded(draw) } };
      const stage = { ...won, attributes: { ...won.attributes, project_stage: 'completed' } };
      return n % 4 === 0 ? [won, stage] : [won];
    });
  const events = projects
    .filter((_, n) => n % 8 === 0)
    .map((record, n) => projectEvent(draw, record.external_key, record.canonical_name, n));
  return parsed([...projects, ...moved, ...events]);
}

// The generated data matches the schema, which adds the same defaults as for other records.
const parsed = (records: object[]): IngestRecord[] =>
  records.map((record) => ingestRecord.parse(record));

const awarded = (draw: Draw) => ({
  project_stage: 'under_construction',
  general_contractor: company(draw),
  contractor_status: 'identified',
});

function project(draw: Draw, n: number) {
  const geography = geographyOf(draw);
  const permit_number = `${geography.region}-2025-${String(n).padStart(6, '0')}`;
  const project_name = `${pick(draw, names)} ${pick(draw, buildings)} ${whole(draw, 1, 40)}`;
  const seen = time(draw);
  return {
    type: 'entity' as const,
    external_key: `project-${n}`,
    entity_type: 'project',
    canonical_name: project_name,
    aliases: n % 5 === 0 ? [`${project_name} Phase I`] : [],
    attributes: {
      project_name,
      property_address: `${whole(draw, 1, 9_900)} ${pick(draw, streets)}, ${geography.city}`,
      developer: company(draw),
      permit_number,
      project_value: whole(draw, 5, 2_000) * 100_000,
      project_stage: pick(draw, stages.slice(0, 3)),
      general_contractor: null,
      contractor_status: 'not_identified',
      opportunity_score: whole(draw, 20, 99),
    },
    external_ids: { permit_number },
    geography,
    ...assessed(draw),
    source_evidence: evidence(PORTAL, `permits.example.com/${permit_number}`, seen),
    observed_at: seen,
  };
}

function projectEvent(draw: Draw, key: string, name: string, n: number) {
  const happenings = {
    permit_filed: 'A permit was filed for',
    permit_approved: 'The permit was approved for',
    bid_opened: 'Bids were opened for',
    contract_awarded: 'The contract was awarded for',
    contractor_identified: 'The general contractor is known for',
  };
  const event_type = pick(draw, Object.keys(happenings) as (keyof typeof happenings)[]);
  const occurred_at = time(draw);
  return {
    type: 'event' as const,
    external_key: `event-${n}`,
    event_type,
    primary_external_key: key,
    occurred_at,
    summary: `${happenings[event_type]} ${name}`,
    relevance_score: whole(draw, 30, 99),
    opportunity_score: whole(draw, 20, 99),
    match_reason: MATCHED,
    ...assessed(draw),
    source_evidence: evidence(BIDS, `bids.example.com/${n}`, occurred_at),
  };
}

function permitRecords(): IngestRecord[] {
  const draw = createDraw(2);
  const permits = Array.from({ length: 1_800 }, (_, n) => permit(draw, n));
  const approved = permits
    .filter((_, n) => n % 10 === 0)
    .map((record) => ({
      ...record,
      attributes: { ...record.attributes, permit_status: 'approved' },
    }));
  const events = approved.map((record, n) => ({
    type: 'event' as const,
    external_key: `approval-${n}`,
    event_type: 'permit_approved',
    primary_external_key: record.external_key,
    occurred_at: time(draw),
    summary: `${record.canonical_name} was approved`,
    relevance_score: whole(draw, 30, 99),
    opportunity_score: whole(draw, 20, 99),
    match_reason: MATCHED,
    ...assessed(draw),
    source_evidence: record.source_evidence,
  }));
  return parsed([...permits, ...approved, ...events]);
}

function permit(draw: Draw, n: number) {
  const geography = geographyOf(draw);
  const permit_number = `B-${String(n).padStart(6, '0')}`;
  const seen = time(draw);
  return {
    type: 'entity' as const,
    external_key: `permit-${n}`,
    entity_type: 'permit',
    canonical_name: `Building permit ${permit_number}`,
    attributes: {
      permit_number,
      permit_type: pick(draw, ['new_building', 'alteration', 'demolition', 'electrical']),
      permit_status: 'filed',
      property_address: `${whole(draw, 1, 9_900)} ${pick(draw, streets)}, ${geography.city}`,
      applicant: company(draw),
      declared_value: whole(draw, 1, 900) * 10_000,
    },
    external_ids: { permit_number },
    geography,
    ...assessed(draw),
    source_evidence: evidence(PORTAL, `permits.example.com/${permit_number}`, seen),
    observed_at: seen,
  };
}

function companyRecords(): IngestRecord[] {
  const draw = createDraw(3);
  const companies = Array.from({ length: 1_000 }, (_, n) => {
    const canonical_name = company(draw);
    const seen = time(draw);
    return {
      type: 'entity' as const,
      external_key: `company-${n}`,
      entity_type: 'company',
      canonical_name,
      aliases: [`${canonical_name} LLC`],
      attributes: {
        company_name: canonical_name,
        employees: whole(draw, 5, 4_000),
        founded: whole(draw, 1950, 2023),
        specialties: [pick(draw, buildings)],
      },
      external_ids: { register_number: `R${100_000 + n}` },
      geography: geographyOf(draw),
      ...assessed(draw),
      source_evidence: evidence(REGISTER, `companies.example.com/${100_000 + n}`, seen),
      observed_at: seen,
    };
  });
  const grown = companies
    .filter((_, n) => n % 20 === 0)
    .map((record) => ({
      ...record,
      attributes: { ...record.attributes, employees: record.attributes.employees + 10 },
    }));
  return parsed([...companies, ...grown]);
}
