// The page that a browser is shown at an address that has nothing. It is served without the dashboard too, so its style
// is inside it, and its policy allows that style and nothing else.
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { setPageSecurityHeaders } from './site-files.ts'

/** The colours of the dashboard. */
const STYLE = `
:root { color-scheme: light dark }
body { margin: 0; background: light-dark(#f5f6f8, #0d1014); color: light-dark(#1a2027, #e6eaef); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 30rem; margin: 20vh auto 0; padding: 0 1.5rem }
h1 { font-size: 24px; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance }
a { color: light-dark(#0f6b5c, #4fc3ae) }
`

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Not found</title>
<style>${STYLE}</style>
<main>
<h1>There is nothing at this address</h1>
<p><a href="/">To the start page</a></p>
</main>
</html>
`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function answerWithNotFoundPage(ctx: Context): void {
  setPageSecurityHeaders(ctx, POLICY)
  ctx.type = 'html'
  ctx.body = PAGE
}
