import { lastProofOf } from '../../auth/session-proofs.ts';
import { activeMembership, namedTeam } from '../../db/predicates.ts';
import { query } from '../../db/query.ts';

/** What a client asks for besides access to the API, compared with the session that answers. */
export type Asked = {
  readonly prompt: string;
  /** The scopes of OpenID Connect, separated by spaces; null without `openid`. */
  readonly openid: string | null;
  readonly nonce: string | null;
  readonly redirect_uri: string;
  /** Whether the session began after the request did: its user has just chosen and proved the account. */
  readonly is_new_session: boolean;
  /** Whether the session was proved after the request began. */
  readonly is_proven_since: boolean;
  /** Whether the last proof is as recent as `max_age` asks; true without it. */
  readonly is_proven: boolean;
  /** Whether `login_hint` names the account of the session; true without it. */
  readonly is_hinted: boolean;
  /** The team that the client asks for; null without one. */
  readonly asked_team: string | null;
  /** The team that `asked_team` names, or the only one if the user has to choose. Null unless it is an active membership. */
  readonly team_id: string | null;
  /** Whether `id_token_hint` is about the account of the session; true without it. */
  readonly is_subject: boolean;
  readonly is_verified: boolean;
  readonly is_first_party: boolean;
  readonly is_confidential: boolean;
  readonly is_development: boolean;
};

/** Asks the user for the team. */
export const CHOOSE_TEAM = 'choose';

const ASKED = `r.payload->'params'`;

/** Reads what a request asks for (`$1`, `$2`: its hold), for a session (`$3`). */
export const findAsked = query<Asked>(
  'authorization_request_find_first_party',
  `select coalesce(${ASKED}->>'asked_prompt', '') as prompt, ${ASKED}->>'asked_openid' as openid,
     ${ASKED}->>'asked_nonce' as nonce, ${ASKED}->>'redirect_uri' as redirect_uri,
     s.created_at >= began.at as is_new_session,
     coalesce(proof.at >= began.at, false) as is_proven_since,
     max_age.seconds is null
       or coalesce(proof.at >= began.at - make_interval(secs => max_age.seconds), false) as is_proven,
     coalesce(lower(${ASKED}->>'asked_login_hint') in (lower(a.email), a.id), true) as is_hinted,
     coalesce(${ASKED}->>'asked_subject' = a.id, true) as is_subject,
     nullif(${ASKED}->>'asked_team', '') as asked_team, team.id as team_id,
     a.email_verified_at is not null as is_verified, c.is_first_party, c.is_confidential,
     c.is_development
   from authorization_request r
   join oauth_client c on c.id = ${ASKED}->>'client_id' and c.deleted_at is null
   join session s on s.id = $3
   join account a on a.id = s.account_id
   cross join lateral (select r.began_at as at) began
   cross join lateral (select ${lastProofOf('s')} as at) proof
   cross join lateral (
     select case when ${ASKED}->>'asked_max_age' ~ '^[0-9]{1,9}$' then (${ASKED}->>'asked_max_age')::int end as seconds
   ) max_age
   left join lateral (
     select min(m.team_id) as id from membership m
     where m.account_id = a.id and ${activeMembership('m')}
       and (${ASKED}->>'asked_team' = '${CHOOSE_TEAM}' or m.team_id = ${namedTeam(`${ASKED}->>'asked_team'`)})
     having count(*) = 1) team on coalesce(${ASKED}->>'asked_team', '') <> ''
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()`,
);

/** Whether the client wants a more recent proof than the session has. */
export const needsProof = ({ is_proven: isProven, is_proven_since: isProvenSince, prompt }: Asked): boolean =>
  !isProven || (prompt.split(' ').includes('login') && !isProvenSince);

/** Why a request is not answered without a page, by the names of OpenID Connect Core, section 3.1.2.6. */
export type Reason = 'login_required' | 'interaction_required' | 'account_selection_required' | 'consent_required';

/** Whether the user has to choose a team. Who has only one need not. */
export const hasToChooseTeam = ({ asked_team: team, team_id: id }: Asked): boolean =>
  team === CHOOSE_TEAM && id === null;

/**
 * Returns why a page has to be shown to the user of a session; null if it need not. Only a server with a secret, or a page
 * of an origin that the operator listed, gets a code that nobody has confirmed: anyone can register a private-use scheme
 * or listen on a loopback address.
 */
export function findReasonForPage(asked: Asked, trustedOrigins: readonly string[]): Reason | null {
  const { prompt, redirect_uri: redirectUri, is_new_session: isNew } = asked;
  const prompts = prompt.split(' ');
  const { origin, protocol } = new URL(redirectUri);
  // Core, section 3.1.2.1: the error of a hint at somebody else. With a page, its user can choose the account.
  if (!asked.is_subject) return prompts.includes('none') ? 'login_required' : 'account_selection_required';
  if (needsProof(asked)) return 'login_required';
  if (!asked.is_hinted || (prompts.includes('select_account') && !isNew)) return 'account_selection_required';
  if (!asked.is_verified || (prompts.includes('create') && !isNew)) return 'interaction_required';
  if (hasToChooseTeam(asked)) return 'interaction_required';
  if (prompts.includes('consent')) return 'consent_required';
  const isTrusted =
    protocol === 'https:' && !asked.is_development && (asked.is_confidential || trustedOrigins.includes(origin));
  return isTrusted ? null : 'consent_required';
}
