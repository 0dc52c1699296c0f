"""A product on Roster in Python: users sign in there, and the API checks team and permission at each request."""

import os
import secrets
import time

import httpx
from authlib.integrations.starlette_client import OAuth, OAuthError
from authlib.jose import JsonWebToken
from authlib.jose.errors import JoseError
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from html import escape
from starlette.middleware.sessions import SessionMiddleware
from urllib.parse import parse_qs, urlencode

ROSTER_URL = os.environ["ROSTER_URL"]
# Where this server reaches Roster. Tokens name ROSTER_URL all the same.
INTERNAL_URL = httpx.URL(os.environ.get("ROSTER_INTERNAL_URL", ROSTER_URL))
APP_URL = os.environ["APP_URL"]
CLIENT_ID = os.environ["ROSTER_CLIENT_ID"]
IS_SECURE = APP_URL.startswith("https:")

app = FastAPI()
# The cookie is signed, and has the id of a session alone: users can read it.
app.add_middleware(
    SessionMiddleware,
    secret_key=os.environ["COOKIE_SECRET"],
    session_cookie="__Host-session" if IS_SECURE else "session",
    same_site="lax",
    https_only=IS_SECURE,
)


class InternalTransport(httpx.AsyncHTTPTransport):
    """Sends what is for Roster to its internal address."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(
            scheme=INTERNAL_URL.scheme, host=INTERNAL_URL.host, port=INTERNAL_URL.port
        )
        return await super().handle_async_request(request)


oauth = OAuth()
oauth.register(
    "roster",
    server_metadata_url=f"{ROSTER_URL}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=os.environ["ROSTER_CLIENT_SECRET"],
    client_kwargs={
        "scope": "openid profile email teams:read",
        "code_challenge_method": "S256",
        "token_endpoint_auth_method": "client_secret_post",
        "transport": InternalTransport(),
    },
)
roster = oauth.roster

# Sessions by their id, and what is reported in each team. Several processes keep both in a database.
sessions: dict[str, dict] = {}
reports: dict[str, list] = {}


def session_of(request: Request) -> dict | None:
    return sessions.get(request.session.get("id", ""))


async def access_token_of(request: Request) -> str:
    """Returns the token of the session, refreshed shortly before it expires."""
    session = session_of(request)
    if session is None:
        raise HTTPException(401, "Sign in first.")
    if session["expires_at"] < time.time() + 30:
        try:
            # The refresh token of a client with a secret does not change, so requests can do this at the same time.
            token = await roster.fetch_access_token(grant_type="refresh_token", refresh_token=session["refresh_token"])
            session.update(access_token=token["access_token"], expires_at=token["expires_at"])
        except OAuthError:
            sessions.pop(request.session.pop("id"), None)
            raise HTTPException(401, "Sign in again.")
        except httpx.HTTPError:
            raise HTTPException(503, "Roster does not answer. Try again in a moment.")
    return session["access_token"]


def permission(name: str):
    """Lets in users and API keys whose role in their team has a permission of Roster or of the product."""

    async def check(request: Request) -> dict:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        team = None
        if scheme.lower() == "bearer":
            credential = key
        else:
            credential = await access_token_of(request)
            team = session_of(request)["team"]["id"]
        question = {"credential": credential, "resource": "api", "permission": name, **({"teamId": team} if team else {})}
        try:
            async with httpx.AsyncClient(base_url=INTERNAL_URL, timeout=10) as client:
                answer = await client.post(
                    "/operator/v1/credentials/verify",
                    json=question,
                    headers={"authorization": f"Bearer {os.environ['ROSTER_OPERATOR_KEY']}"},
                )
            answer.raise_for_status()
        except httpx.HTTPError:
            raise HTTPException(503, "Roster does not answer. Try again in a moment.")
        sender = answer.json()
        if not sender["valid"]:
            raise HTTPException(401 if sender["code"] == "credential_invalid" else 403, sender["code"])
        if sender["team"] is None:
            raise HTTPException(403, "team_key_required")
        return sender

    return Depends(check)


@app.get("/", response_class=HTMLResponse)
def index(request: Request):
    session = session_of(request)
    if session is None:
        return '<h1>Reports</h1><a href="/sign-in">Sign in</a>'
    who, team = escape(session["email"]), escape(session["team"]["slug"])
    return (
        f"<h1>Reports</h1><p>Signed in as {who}, in {team}</p>"
        '<form method="post" action="/sign-out"><button>Sign out</button></form>'
    )


@app.get("/sign-in")
async def sign_in(request: Request):
    # Roster asks "Which team?", unless there is one.
    return await roster.authorize_redirect(request, f"{APP_URL}/callback", team="choose")


@app.get("/callback")
async def callback(request: Request):
    try:
        # Checks state, nonce, PKCE, and the signature, issuer, audience and time of the id token.
        token = await roster.authorize_access_token(request)
    except (OAuthError, JoseError):
        return HTMLResponse('The sign-in failed. <a href="/sign-in">Try again</a>', 400)
    claims = token["userinfo"]
    request.session["id"] = secrets.token_urlsafe(32)
    sessions[request.session["id"]] = {
        "sid": claims["sid"],
        "user": claims["sub"],  # it never changes: key your data by it
        "email": claims["email"],
        "team": claims["roster_team"],
        **{name: token[name] for name in ("access_token", "refresh_token", "expires_at", "id_token")},
    }
    return RedirectResponse("/", 303)


@app.get("/api/reports")
def list_reports(sender: dict = permission("access_dashboard")):
    return reports.get(sender["team"]["id"], [])


@app.post("/api/reports", status_code=201)
async def create_report(request: Request, sender: dict = permission("access_billing")):
    report = {"title": (await request.json())["title"], "by": sender["account"]["id"]}
    reports.setdefault(sender["team"]["id"], []).append(report)
    return report


@app.post("/sign-out")
async def sign_out(request: Request):
    session = sessions.pop(request.session.pop("id", ""), None)
    if session is None:
        return RedirectResponse("/", 303)
    metadata = await roster.load_server_metadata()
    query = {"id_token_hint": session["id_token"], "client_id": CLIENT_ID, "post_logout_redirect_uri": f"{APP_URL}/"}
    return RedirectResponse(f"{metadata['end_session_endpoint']}?{urlencode(query)}", 303)


LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


@app.post("/back-channel-logout")
async def back_channel_logout(request: Request):
    """Ends the sessions that were signed in with one that ended at Roster."""
    token = parse_qs((await request.body()).decode()).get("logout_token", [""])[0]
    try:
        claims = JsonWebToken(["RS256"]).decode(
            token,
            await roster.fetch_jwk_set(),
            claims_options={
                "iss": {"essential": True, "value": ROSTER_URL},
                "aud": {"essential": True, "value": CLIENT_ID},
                "exp": {"essential": True},
                "sid": {"essential": True},
            },
        )
        claims.validate(leeway=60)
        if claims.header.get("typ") != "logout+jwt" or LOGOUT not in claims.get("events", {}) or "nonce" in claims:
            raise ValueError("This is no logout token.")
    except (JoseError, ValueError):
        raise HTTPException(400, "invalid_request")
    for id in [id for id, session in sessions.items() if session["sid"] == claims["sid"]]:
        del sessions[id]
    return Response(status_code=204)
