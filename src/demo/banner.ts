import type { SeededDemo } from './seed.ts';

/** Describes the demo data, with commands to copy. Fits 100 columns. */
export function demoBanner(baseUrl: string, { accounts, password, teams, keys }: SeededDemo): string {
  const api = `${baseUrl}/api/v1`;
  const [team] = teams;
  const lines = [
    'Demo data was added to the database.',
    '',
    ...accounts.map(({ email, role }, index) => row(index === 0 ? 'Accounts' : '', `${email.padEnd(24)}${role}`)),
    row('Password', password),
    ...teams.map(({ id, name }, index) => row(index === 0 ? 'Teams' : '', `${id.padEnd(34)}${name}`)),
    '',
    `Sign in at ${baseUrl}. The password and these keys are shown only once.`,
    '',
    'API keys of owner@example.com (create more with `roster key create`):',
    row('all scopes', keys.personal.secret),
    row('read only', keys.readOnly.secret),
    row('one team', keys.team.secret),
    '',
    'Try it:',
    '',
    ...curl(`${api}/credential`, keys.readOnly.secret),
    ...curl(`${api}/teams`, keys.personal.secret),
    ...curl(`${api}/teams/${team?.id}/members`, keys.team.secret),
    ...curl(`${api}/teams/${team?.id}/invitations`, keys.personal.secret, { email: 'new.colleague@example.com' }),
    'The invitation email is a file in `mail` under DATA_DIR, unless SMTP_URL is set.',
    `API reference: ${baseUrl}/docs`,
  ];
  return `\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n\n`;
}

const row = (label: string, value: string): string => `  ${label.padEnd(12)}${value}`;

function curl(url: string, secret: string, body?: Record<string, string>): string[] {
  const bearer = `    -H 'Authorization: Bearer ${secret}'`;
  if (body === undefined) return [`  curl ${url} \\`, bearer, ''];
  return [
    `  curl ${url} \\`,
    `${bearer} \\`,
    `    -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
    '',
  ];
}
