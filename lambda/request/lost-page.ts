import { hash } from 'node:crypto';
import type { ErrorFormat } from './routes.ts';

interface Facts {
  readonly serviceName: string;
  /** The base URL of the account pages, without a trailing slash: empty if they are on this host, undefined if unknown. */
  readonly pagesUrl: string | undefined;
  /** The title of the clients page, if there is one. */
  readonly clients: string | undefined;
}

/** A self-contained HTML page with links, for a browser at an unknown path. */
export function createLostPage({ serviceName, pagesUrl, clients }: Facts): ErrorFormat {
  const links = { docs: 'Read the API', ...(clients !== undefined && { cli: clients }), '': 'The start page' };
  const items = Object.entries(links).map(
    ([path, text]) => `<li><a href="${quote(`${pagesUrl}/${path}`)}">${text}</a></li>`,
  );
  const whereToGo =
    pagesUrl === undefined ? '<p>Ask its operator where it is described.</p>' : `<ul>${items.join('')}</ul>`;
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>There is no page here · ${serviceName}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<p class="brand">${serviceName}</p>
<h1>There is no page here</h1>
<p>This is the address of an API, to which clients of OpenAI and Anthropic send their requests: to paths below <code>/v1</code>.</p>
${whereToGo}
</main>
</body>
</html>
`;
  return { renderError: () => page, renderRateLimit: () => ({}), errorHeaders: headers };
}

// The same colours as the account pages.
const style = `
:root { color-scheme: light dark; font: 1rem/1.55 system-ui, sans-serif; background: #f4f5fa; color: #171a2b; --soft: #565c75; --accent: #4f46e5 }
@media (prefers-color-scheme: dark) { :root { background: #0d0f1a; color: #e9ebf5; --soft: #a3a9c2; --accent: #8b93ff } }
main { max-width: 36rem; margin: 0 auto; padding: clamp(1.5rem, 8vw, 5rem) 1.25rem }
.brand { margin: 0 0 2rem; font-weight: 650 }
h1 { margin: 0 0 0.75rem; font-size: clamp(1.9rem, 6vw, 2.6rem); line-height: 1.15; letter-spacing: -0.025em }
p { color: var(--soft) }
.brand { color: inherit }
ul { padding: 0; list-style: none }
a { display: inline-block; padding: 0.5rem 0; color: var(--accent); font-weight: 600; text-underline-offset: 0.2em }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`;

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; img-src data:; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/** Escapes an operator's URL for a double-quoted attribute. */
const quote = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
