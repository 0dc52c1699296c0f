/** The name of the channel on which a window says whether its user has proved who they are. */
export const PROOF_CHANNEL = 'roster-proof';

const SCRIPT = `new BroadcastChannel('${PROOF_CHANNEL}').postMessage(/[?&]sign_in_error=/.test(location.search)?'refused':'proved');close()`;
const NONCE = crypto.randomUUID();

/** Tells the page that asked for a proof whether there is one, and closes its window. */
export const PROVED_PAGE = new Response(
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Done</title><p>You can close this window.</p><script nonce="${NONCE}">${SCRIPT}</script></html>`,
  {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; script-src 'nonce-${NONCE}'; frame-ancestors 'none'`,
    },
  },
);
