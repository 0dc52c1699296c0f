import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { isReadScope, parseScopes } from '../../auth/scopes.ts';
import { activeMembership } from '../../db/predicates.ts';
import { iso, query } from '../../db/query.ts';
import {
  GRANT_DAYS,
  OPENID_SCOPES,
  type ClientSource,
  type LocalizedText,
  type ProductPermission,
} from '../../entities/index.ts';
import { getHoldValues, type Hold } from './hold.ts';
import { findAsked, findReasonForPage, hasToChooseTeam, type Asked } from './first-party.queries.ts';
import { hasRedirectUri } from '../oauth-clients/redirect-uri.ts';

type RequestRow = {
  client_id: string;
  client_name: string;
  client_source: ClientSource;
  client_created_at: string;
  /** The name of the account that registered the client. */
  maker_name: string;
  redirect_uri: string;
  redirect_uris: string[];
  is_native: boolean;
  scope: string | null;
  is_scope_omitted: boolean;
  email: string;
  /** What the client asks for of the operator’s product. */
  permissions: { name: ProductPermission; title: LocalizedText; description: LocalizedText | null }[];
};

const findOpenRequest = query<RequestRow>(
  'authorization_request_find_open',
  `select c.id as client_id, c.name as client_name, c.source as client_source, c.created_at as client_created_at,
     trim(concat_ws(' ', maker.first_name, maker.last_name)) as maker_name, a.email,
     coalesce((select json_agg(json_build_object('name', d.name, 'title', d.title, 'description', d.description)
         order by d.position) from declared_permission d where d.name = any(c.product_permissions)), '[]') as permissions,
     c.redirect_uris, c.is_native, r.payload->'params'->>'redirect_uri' as redirect_uri, r.payload->'params'->>'scope' as scope,
     r.payload->'params'->>'scope_omitted' is not null as is_scope_omitted
   from authorization_request r
   join oauth_client c on c.id = r.payload->'params'->>'client_id' and c.deleted_at is null
   left join account maker on maker.id = c.account_id
   join account a on a.id = $3
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()`,
);

const findTeams = query<{ id: string; name: string; role_name: string }>(
  'team_list_to_grant',
  `select t.id, t.name, r.name as role_name
   from membership m
   join team t on t.id = m.team_id
   join role r on r.id = m.role_id
   where m.account_id = $1 and ${activeMembership('m')}
   order by t.name, t.id`,
);

/**
 * Returns the content of a consent page. @returns null if the request has ended, was started in another browser, or is for
 * a redirect URI that the client no longer has
 */
export async function readAuthorization({ db, config }: Services, hold: Hold, caller: Principal) {
  const { accountId, credentialId } = caller;
  const [[request], teams, [asked]] = await Promise.all([
    db.query(findOpenRequest, [...getHoldValues(hold), accountId]),
    db.query(findTeams, [accountId]),
    db.query(findAsked, [...getHoldValues(hold), credentialId]),
  ]);
  if (request === undefined) return null;
  const registered = { redirectUris: request.redirect_uris, isNative: request.is_native };
  if (!hasRedirectUri(registered, request.redirect_uri)) return null;
  const scopes = parseScopes(request.scope ?? '');
  return {
    id: hold.id,
    client: {
      id: request.client_id,
      name: request.client_name,
      redirectHost: getRedirectHost(request.redirect_uri),
      isVerified: request.client_source === 'operator',
      source: request.client_source,
      madeBy: getMaker(request),
      createdAt: iso(request.client_created_at),
    },
    account: { id: accountId, email: request.email },
    firstParty: asked?.is_first_party ? findQuestion(asked, config.trpcOrigins) : null,
    scopes,
    openidScopes: OPENID_SCOPES.filter((scope) => asked?.openid?.split(' ').includes(scope)),
    // A client that names no scope gets no write access by default (RFC 6749, section 3.3).
    preselectedScopes: request.is_scope_omitted ? scopes.filter(isReadScope) : scopes,
    permissions: asked?.is_first_party ? [] : request.permissions,
    accessDays: GRANT_DAYS,
    teams: teams.map(({ id, name, role_name: roleName }) => ({ id, name, roleName })),
  };
}

/** Returns what the page asks the user of a first-party client. Choosing a team also confirms the account. */
const findQuestion = (asked: Asked, trustedOrigins: readonly string[]) =>
  hasToChooseTeam(asked) ? ('team' as const) : QUESTIONS[findReasonForPage(asked, trustedOrigins) ?? 'none'];

/** What the page asks, by the reason to show it. */
const QUESTIONS = {
  none: 'nothing',
  consent_required: 'confirmation',
  interaction_required: 'confirmation',
  account_selection_required: 'account',
  login_required: 'proof',
} as const;

/** Returns who made a client, as far as is known: the name that an account chose, or the host of a metadata document. */
const getMaker = ({ client_id: id, client_source: source, maker_name: name }: RequestRow): string | null =>
  source === 'document' ? new URL(id).host : name || null;

/** Returns the host of a redirect URI; for a private-use scheme (RFC 8252, section 7.1) the scheme. */
function getRedirectHost(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host === '' ? protocol.slice(0, -1) : host;
}
