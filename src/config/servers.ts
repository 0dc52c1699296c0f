import { parseDatabaseUrl } from './database-url.ts';
import { parseRedisUrl } from './redis-url.ts';
import { readBy } from './values.ts';

/** A connection URL, whose files can be read. */
export const databaseUrl = () =>
  readBy((text) => {
    parseDatabaseUrl(text);
    return text;
  });

/** One or more URLs of Redis. */
export const redisUrls = () =>
  readBy((text) => {
    parseRedisUrl(text);
    return text;
  });
