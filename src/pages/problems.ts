import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { Router, type Response } from 'express';
import { PROBLEMS, problemSlug, type ProblemCode } from '../errors.ts';
import { problemExample } from '../rest/openapi-examples.ts';
import { assetOf } from './asset.ts';
import { escapeHtml } from './html.ts';

const CODES = Object.keys(PROBLEMS) as ProblemCode[]; // Object.keys widens the keys to string

/** `GET /problems` lists the codes of problem documents; `GET /problems/<slug>`, their `type`, explains one. */
export function problemPages(baseUrl = ''): Router {
  const style = assetOf('/problems/style.css', {
    type: 'text/css; charset=utf-8',
    body: readFileSync(new URL('./problems.css', import.meta.url)),
  });
  const ofSlug = new Map(CODES.map((code) => [problemSlug(code), code]));
  const show = (res: Response, title: string, main: string) =>
    res
      .set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'public, max-age=300' })
      .type('html')
      .send(page(style.path, title, main));

  const pages = Router();
  pages.get('/problems', (_req, res) => void show(res, 'Problems', list()));
  pages.get(style.path, style.serve);
  pages.get('/problems/:slug', (req, res, next) => {
    const code = ofSlug.get(req.params.slug);
    if (code === undefined) next();
    else show(res, PROBLEMS[code][1], explanation(code, baseUrl));
  });
  return pages;
}

const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const list = (): string => `<h1>Problems</h1>
<p>Every failure is answered with a problem document (<abbr title="Request for Comments">RFC</abbr> 9457), whose <code>code</code> is one of these.
<a href="/docs">The API reference</a> says what each operation does.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${CODES.map(row).join('\n')}
</tbody>
</table>`;

function row(code: ProblemCode): string {
  const [status, title] = PROBLEMS[code];
  return `<tr><td>${status}</td><td><a href="/problems/${problemSlug(code)}"><code>${code}</code></a></td><td>${escapeHtml(title)}</td></tr>`;
}

function explanation(code: ProblemCode, baseUrl: string): string {
  const [status, title, advice] = PROBLEMS[code];
  return `<nav><a href="/problems">All problems</a></nav>
<h1>${escapeHtml(title)}</h1>
<dl>
<div><dt>Code</dt><dd><code>${code}</code></dd></div>
<div><dt>Status</dt><dd>${status} ${escapeHtml(STATUS_CODES[status] ?? '')}</dd></div>
</dl>
<h2>What to do</h2>
<p>${withCode(advice)}</p>
<h2>Example</h2>
<pre tabindex="0" aria-label="An example document"><code>${escapeHtml(JSON.stringify(problemExample(code, baseUrl), null, 2))}</code></pre>`;
}

/** Text whose \`words\` are code. */
const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const page = (stylePath: string, title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Roster API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
