import { STATUS_CODES } from 'node:http';
import { Router } from 'express';
import { PROBLEMS, problemSlug, type ProblemCode } from '../problems/catalogue.ts';
import { problemExample } from '../rest/openapi-examples.ts';
import { escapeHtml } from './html.ts';
import type { Brand } from './brand.ts';
import { createPlainPages } from './plain.ts';

const CODES = Object.keys(PROBLEMS) as ProblemCode[]; // Object.keys widens the keys to string

/** Serves `GET /problems`, the list of error codes, and `GET /problems/<slug>`, the `type` of a problem document. */
export function problemPages({ baseUrl, brand }: { readonly baseUrl: string; readonly brand: Brand }): Router {
  const { style, show } = createPlainPages('/problems/style.css', brand);
  const codesBySlug = new Map(CODES.map((code) => [problemSlug(code), code]));
  const pages = Router();
  pages.get('/problems', (_req, res) => show(res, 'Error codes', renderList()));
  pages.get(style.path, style.serve);
  pages.get('/problems/:slug', (req, res, next) => {
    const code = codesBySlug.get(req.params.slug);
    if (code === undefined) next();
    else show(res, PROBLEMS[code][1], renderProblem(code, baseUrl));
  });
  return pages;
}

const renderList = (): string => `<h1>Error codes</h1>
<p>Every error response is a problem document (<abbr title="Request for Comments">RFC</abbr> 9457), whose <code>code</code> is one of these.
<a href="/docs">The API reference</a> describes the operations.</p>
<table class="words">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${CODES.map(row).join('\n')}
</tbody>
</table>`;

function row(code: ProblemCode): string {
  const [status, title] = PROBLEMS[code];
  return `<tr><td>${status}</td><td><a href="/problems/${problemSlug(code)}"><code>${code.replaceAll('_', '_<wbr>')}</code></a></td><td>${escapeHtml(title)}</td></tr>`;
}

function renderProblem(code: ProblemCode, baseUrl: string): string {
  const [status, title, advice] = PROBLEMS[code];
  return `<nav><a href="/problems">All error codes</a></nav>
<h1>${escapeHtml(title)}</h1>
<dl>
<div><dt>Code</dt><dd><code>${code}</code></dd></div>
<div><dt>Status</dt><dd>${status} ${escapeHtml(STATUS_CODES[status] ?? '')}</dd></div>
</dl>
<h2>What to do</h2>
<p>${withCode(advice)}</p>
<h2>Example</h2>
<pre tabindex="0" aria-label="Example document"><code>${escapeHtml(JSON.stringify(problemExample(code, baseUrl), null, 2))}</code></pre>`;
}

/** Escapes text and renders \`words\` as code. */
const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
