import { z } from 'zod';
import { readableJson, searchableWords, wordsIn } from '#shared/values/words.ts';
import { type FragmentSqlToken, type Pool, sql, statement } from '#shared/db/pool.ts';

/** Runs whose words are stored in one transaction. */
export const WORDS_BATCH = 200;
/** How much of an input, an output and an error is searched, in characters. */
const SEARCHED = { json: 8_000, error: 2_000 };
/** The maximum number of different words per run. */
const MOST_WORDS = 1_000;
/** Serializes processes, so that an older text never replaces a newer one. The number is arbitrary. */
const LOCK_KEY = 7_203_118;

const textRow = z.object({
  id: z.string(),
  input: z.string(),
  output: z.string().nullable(),
  error: z.string().nullable(),
});

/**
 * Stores the words of up to `batch` runs that have started or ended, and returns how many changes it has handled.
 * Returns 0 while another process does the same.
 */
export async function storeRunWords(db: Pool, batch = WORDS_BATCH): Promise<number> {
  return db.transaction(async (tx) => {
    const { locked } = await tx.one(statement(z.object({ locked: z.boolean() }))`
      SELECT pg_try_advisory_xact_lock(${LOCK_KEY}::bigint) AS locked
    `);
    if (!locked) return 0;
    const due = await tx.any(statement(z.object({ run_id: z.string() }))`
      DELETE FROM run_words_due WHERE id IN (SELECT id FROM run_words_due ORDER BY id LIMIT ${batch})
      RETURNING run_id
    `);
    const ids = [...new Set(due.map(({ run_id }) => run_id))];
    if (ids.length === 0) return 0;
    const texts = await tx.any(statement(textRow)`
      SELECT id, left(input::text, ${SEARCHED.json}) AS input, left(output::text, ${SEARCHED.json}) AS output,
             left(error, ${SEARCHED.error}) AS error
      FROM runs WHERE id = ANY (${sql.array(ids, 'text')}) ORDER BY id
      -- A deletion waits, or has removed the row.
      FOR KEY SHARE
    `);
    const rows = texts.map((row) => ({ id: row.id, words: wordsOf(row) }));
    await tx.query(statement(z.object({}))`
      INSERT INTO run_words (run_id, words)
      SELECT r.id, array_to_tsvector(ARRAY(
        SELECT run_words_key(r.workspace_id, r.created_at) || word FROM json_array_elements_text(t.words) AS word))
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS t (id text, words json) JOIN runs r ON r.id = t.id
      ON CONFLICT (run_id) DO UPDATE SET words = excluded.words
    `);
    return due.length;
  });
}

function wordsOf({ id, input, output, error }: z.infer<typeof textRow>): string[] {
  const text = [id, error ?? '', readableJson(input), readableJson(output ?? '')].join(' ');
  return searchableWords(text, MOST_WORDS);
}

/** Shorter words must match completely: too many words start with one or two given characters. */
const SHORTEST_START = 3;

/**
 * The query for the runs of a day that contain all words of `q`: whole words, or prefixes of words. `key` identifies
 * the workspace and the day.
 */
export function wordsQuery(q: string, key: FragmentSqlToken): FragmentSqlToken {
  const parts = wordsIn(q).map((word) => {
    const end = [...word].length < SHORTEST_START ? `'` : `':*`;
    return sql.fragment`'''' || ${key} || ${word + end}`;
  });
  return sql.fragment`(${sql.join(parts, sql.fragment` || '&' || `)})::tsquery`;
}
