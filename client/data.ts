import type { CallOptions, Send } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { Feed, FeedDetail, IngestAnswer, Source } from './types.ts';

type NewFeed = BodyOf<'POST /api/data/feeds'>;
type NewSource = BodyOf<'POST /api/data/sources'>;
type IngestBody = NonNullable<BodyOf<'POST /api/data/ingest'>>;

export function dataMethods(send: Send) {
  return {
    listFeeds: (options?: CallOptions): Promise<Feed[]> =>
      send('GET /api/data/feeds', [], { options }),
    createFeed: (
      feed: Pick<NewFeed, 'name'> & Partial<NewFeed>,
      options?: CallOptions,
    ): Promise<FeedDetail> => send('POST /api/data/feeds', [], { body: feed as NewFeed, options }),
    getFeed: (feedId: string, options?: CallOptions): Promise<FeedDetail> =>
      send('GET /api/data/feeds/{id}', [feedId], { options }),
    /** What is absent stays. */
    updateFeed: (
      feedId: string,
      body: BodyOf<'PUT /api/data/feeds/{id}'>,
      options?: CallOptions,
    ): Promise<FeedDetail> => send('PUT /api/data/feeds/{id}', [feedId], { body, options }),
    /** Deletes its records, too. */
    deleteFeed: (feedId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/data/feeds/{id}', [feedId], { options }),
    listSources: (options?: CallOptions): Promise<Source[]> =>
      send('GET /api/data/sources', [], { options }),
    createSource: (
      source: Pick<NewSource, 'name' | 'type'> & Partial<NewSource>,
      options?: CallOptions,
    ): Promise<Source> =>
      send('POST /api/data/sources', [], { body: source as NewSource, options }),
    getSource: (sourceId: string, options?: CallOptions): Promise<Source> =>
      send('GET /api/data/sources/{id}', [sourceId], { options }),
    /** What is absent stays. */
    updateSource: (
      sourceId: string,
      body: BodyOf<'PUT /api/data/sources/{id}'>,
      options?: CallOptions,
    ): Promise<Source> => send('PUT /api/data/sources/{id}', [sourceId], { body, options }),
    deleteSource: (sourceId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/data/sources/{id}', [sourceId], { options }),
    /** Says what a look at a source came to. */
    reportSource: (
      sourceId: string,
      body: BodyOf<'POST /api/data/sources/{id}/report'>,
      options?: CallOptions,
    ): Promise<Source> => send('POST /api/data/sources/{id}/report', [sourceId], { body, options }),
    /** At most 1,000 records and 1 MB. Sending the same again does no harm. */
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
