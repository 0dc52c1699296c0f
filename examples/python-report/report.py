"""Lists the teams of a credential with their members. Needs only Python 3.9 and the OpenAPI document.

ROSTER_URL=http://localhost:3000 ROSTER_KEY=rst_pk_… python3 report.py
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("ROSTER_URL", "http://localhost:3000")
TIMEOUT_SECONDS = 30
ATTEMPTS = 3


class RosterError(Exception):
    """A problem document (RFC 9457). Branch on `code`."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')} (request {problem.get('requestId')})")
        self.code = problem.get("code")


def send(method, path, body=None):
    """Sends a request, again after a rate limit, and returns the body of the response."""
    headers = {"Accept": "application/json", "Authorization": f"Bearer {os.environ['ROSTER_KEY']}"}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    for attempt in range(1, ATTEMPTS + 1):
        request = urllib.request.Request(BASE_URL + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 429 and attempt < ATTEMPTS:
                time.sleep(float(error.headers.get("Retry-After", 1)))
                continue
            raise RosterError(json.load(error)) from None


class Roster:
    """A method for each operation of the document: path and query parameters by name, the body as `body`."""

    def __init__(self):
        with urllib.request.urlopen(f"{BASE_URL}/api/v1/openapi.json", timeout=TIMEOUT_SECONDS) as response:
            paths = json.load(response)["paths"]
        for path, operations in paths.items():
            for method, operation in operations.items():
                setattr(self, operation["operationId"], self._method(method.upper(), path))

    @staticmethod
    def _method(method, template):
        def call(body=None, **parameters):
            path = template
            for name in [name for name in parameters if f"{{{name}}}" in template]:
                path = path.replace(f"{{{name}}}", urllib.parse.quote(parameters.pop(name), safe=""))
            query = urllib.parse.urlencode(parameters)
            return send(method, f"{path}?{query}" if query else path, body)

        return call


def main():
    roster = Roster()
    for team in roster.listTeams():
        print(f"{team['name']} ({team['role']['id']})")
        for member in roster.listTeamMembers(teamId=team["id"]):
            print(f"  {member['email']} {member['roleName']}")


if __name__ == "__main__":
    try:
        main()
    except RosterError as error:
        sys.exit(str(error))
