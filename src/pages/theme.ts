import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const SOURCE = readFileSync(new URL('./theme.browser.js', import.meta.url), 'utf8');

/** The source of the Content-Security-Policy that allows this one script, and no other. */
export const THEME_SOURCE = `'sha256-${createHash('sha256').update(SOURCE).digest('base64')}'`;

/** Sets light or dark as chosen, before anything is painted. */
export const THEME_SCRIPT = `<script>${SOURCE}</script>`;

/** The choice. Hidden from browsers without scripts, which follow the system. */
export const THEME_CHOICE = `<select id="theme" aria-label="Colors" hidden>
<option value="auto">System colors</option>
<option value="light">Light</option>
<option value="dark">Dark</option>
</select>`;
