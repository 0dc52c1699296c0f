import { query } from '../../db/query.ts';

/** The content of a picture, as base64, if the URL of its owner still names it. */
export const findPicture = query<{ content: string }>(
  'picture_find',
  `select encode(p.content, 'base64') as content
   from picture p left join account a on a.id = p.account_id left join team t on t.id = p.team_id
   where p.name = $1 and split_part(coalesce(a.avatar, t.avatar_url), '/pictures/', -1) = p.name || '.webp'`,
);
