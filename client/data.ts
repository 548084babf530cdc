import { byCursor, wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type {
  ChangeList,
  NamedChange,
  Entity,
  EntityHistory,
  EntityList,
  Feed,
  FeedDetail,
  IngestAnswer,
  IntelligenceEvent,
  IntelligenceEventList,
  Source,
} from './types.ts';

type NewFeed = BodyOf<'POST /api/data/feeds'>;
type NewSource = BodyOf<'POST /api/data/sources'>;
type IngestBody = NonNullable<BodyOf<'POST /api/data/ingest'>>;

type EntityQuery = QueryOf<'GET /api/data/entities'>;
type ChangeQuery = QueryOf<'GET /api/data/changes'>;
type EventQuery = QueryOf<'GET /api/data/events'>;

/** Feeds, sources and their records, as members see them. */
export function dataMethods(send: Send) {
  return { ...feedMethods(send), ...sourceMethods(send), ...recordMethods(send) };
}

function feedMethods(send: Send) {
  return {
    listFeeds: (options?: CallOptions): Promise<Feed[]> =>
      wholeList((query) => send('GET /api/data/feeds', [], { query, options }), {}),
    createFeed: (
      feed: Pick<NewFeed, 'name'> & Partial<NewFeed>,
      options?: CallOptions,
    ): Promise<FeedDetail> => send('POST /api/data/feeds', [], { body: feed as NewFeed, options }),
    getFeed: (feedId: string, options?: CallOptions): Promise<FeedDetail> =>
      send('GET /api/data/feeds/{id}', [feedId], { options }),
    /** Omitted fields are unchanged. */
    updateFeed: (
      feedId: string,
      body: BodyOf<'PUT /api/data/feeds/{id}'>,
      options?: WriteOptions,
    ): Promise<FeedDetail> => send('PUT /api/data/feeds/{id}', [feedId], { body, options }),
    /** Also deletes its records. */
    deleteFeed: (feedId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/data/feeds/{id}', [feedId], { options }),
  };
}

function sourceMethods(send: Send) {
  return {
    listSources: (options?: CallOptions): Promise<Source[]> =>
      wholeList((query) => send('GET /api/data/sources', [], { query, options }), {}),
    createSource: (
      source: Pick<NewSource, 'name' | 'type'> & Partial<NewSource>,
      options?: CallOptions,
    ): Promise<Source> =>
      send('POST /api/data/sources', [], { body: source as NewSource, options }),
    getSource: (sourceId: string, options?: CallOptions): Promise<Source> =>
      send('GET /api/data/sources/{id}', [sourceId], { options }),
    /** Omitted fields are unchanged. */
    updateSource: (
      sourceId: string,
      body: BodyOf<'PUT /api/data/sources/{id}'>,
      options?: WriteOptions,
    ): Promise<Source> => send('PUT /api/data/sources/{id}', [sourceId], { body, options }),
    deleteSource: (sourceId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/data/sources/{id}', [sourceId], { options }),
    /** Reports the result of a source check. */
    reportSource: (
      sourceId: string,
      body: BodyOf<'POST /api/data/sources/{id}/report'>,
      options?: CallOptions,
    ): Promise<Source> => send('POST /api/data/sources/{id}/report', [sourceId], { body, options }),
    /** At most 1,000 records and 1 MB. Safe to repeat. */
    ingest: (
      feedId: string,
      records: readonly unknown[],
      options?: CallOptions,
    ): Promise<IngestAnswer> =>
      send('POST /api/data/ingest', [], {
        body: { feed_id: feedId, records: records as IngestBody['records'] },
        options,
      }),
  };
}

function recordMethods(send: Send) {
  const listEntities = (query: EntityQuery = {}, options?: CallOptions): Promise<EntityList> =>
    send('GET /api/data/entities', [], { query, options });
  const listChanges = (query: ChangeQuery = {}, options?: CallOptions): Promise<ChangeList> =>
    send('GET /api/data/changes', [], { query, options });
  const listEvents = (
    query: EventQuery = {},
    options?: CallOptions,
  ): Promise<IntelligenceEventList> => send('GET /api/data/events', [], { query, options });

  return {
    /** One page of the records, newest first. Unlike reads with data keys, these are free. */
    listEntities,
    /** All records, newest first. */
    entities: (query: Omit<EntityQuery, 'cursor'> = {}): AsyncGenerator<Entity, void> =>
      byCursor(
        (cursor) => listEntities({ ...query, cursor }),
        (page) => page.entities,
      ),
    getEntity: (entityId: string, options?: CallOptions): Promise<Entity> =>
      send('GET /api/data/entities/{id}', [entityId], { options }),
    /** One page of a record's versions, newest first, with the changes of each. */
    getEntityHistory: (
      entityId: string,
      query: QueryOf<'GET /api/data/entities/{id}/history'> = {},
      options?: CallOptions,
    ): Promise<EntityHistory> =>
      send('GET /api/data/entities/{id}/history', [entityId], { query, options }),
    /** One page of record changes, one for each attribute, newest first. */
    listChanges,
    /** All changes, newest first. */
    changes: (query: Omit<ChangeQuery, 'cursor'> = {}): AsyncGenerator<NamedChange, void> =>
      byCursor(
        (cursor) => listChanges({ ...query, cursor }),
        (page) => page.changes,
      ),
    /** One page of intelligence events, newest first. */
    listEvents,
    /** All intelligence events, newest first. */
    events: (query: Omit<EventQuery, 'cursor'> = {}): AsyncGenerator<IntelligenceEvent, void> =>
      byCursor(
        (cursor) => listEvents({ ...query, cursor }),
        (page) => page.events,
      ),
  };
}
