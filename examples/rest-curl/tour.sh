#!/bin/sh
# A tour of the REST API: teams, invitations, API keys, errors. Stops at the first unexpected status.
set -eu

url=${ROSTER_URL:-http://localhost:3000}
: "${ROSTER_KEY:?Set ROSTER_KEY to a personal API key with all scopes.}"
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call KEY STATUS METHOD PATH [BODY]: prints the request and the response, and leaves the body in $answer
call() {
  key=$1 expected=$2 method=$3 path=$4
  echo "$method $path"
  status=$(curl -sS -o "$answer" -w '%{http_code}' -X "$method" "$url$path" \
    -H "Authorization: Bearer $key" ${5:+-H 'Content-Type: application/json' -d "$5"})
  echo "  $status $(sed 's/rst_[a-z]*_[0-9A-Za-z]*/<secret>/g' "$answer")"
  [ "$status" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
}

# member NAME: the first string member NAME of the last response
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$answer" | head -n 1; }
first_id() { sed 's/.*"id":"\(team_[^"]*\)".*/\1/' "$answer"; }

echo '# What this key can do'
call "$ROSTER_KEY" 200 GET /api/v1/credential

echo '# A team and an invitation'
call "$ROSTER_KEY" 201 POST /api/v1/teams '{"name":"Tour","description":"Created by the curl tour"}'
team=$(first_id)
call "$ROSTER_KEY" 200 PATCH "/api/v1/teams/$team" '{"name":"Grand tour"}'
call "$ROSTER_KEY" 200 GET "/api/v1/teams/$team/roles"
call "$ROSTER_KEY" 201 POST "/api/v1/teams/$team/invitations" '{"email":"ada@example.com","roleId":"member"}'
call "$ROSTER_KEY" 200 GET "/api/v1/teams/$team/invitations"

echo '# A key for this team only, which reads its members'
call "$ROSTER_KEY" 201 POST /api/v1/api-keys "{\"name\":\"Tour\",\"scopes\":[\"members:read\"],\"teamId\":\"$team\",\"expiresInDays\":1}"
secret=$(member secret)
key_id=$(sed 's/.*"id":"\(key_[^"]*\)".*/\1/' "$answer")
call "$secret" 200 GET "/api/v1/teams/$team/members"

echo '# Errors are problem documents: an unknown address, a missing scope'
call "$ROSTER_KEY" 400 POST "/api/v1/teams/$team/invitations" '{"email":"nobody"}'
call "$secret" 403 GET "/api/v1/teams/$team/billing"

echo '# A revoked key is rejected from the next request on'
call "$ROSTER_KEY" 200 DELETE "/api/v1/api-keys/$key_id"
call "$secret" 401 GET "/api/v1/teams/$team/members"
