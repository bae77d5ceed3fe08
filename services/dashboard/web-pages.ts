// Serves the dashboard's pages. In: the site that `npm run build` made of web/. Out: answers at the paths of its files,
// and of every screen.
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { httpException } from '../../infra/http/problem.ts'
import { STRICT_CONTENT_SECURITY_POLICY, serveSiteFile, setPageSecurityHeaders } from '../../infra/http/site-files.ts'
import { readBuiltSite } from '../../infra/web/built-site.ts'
import { PAGE_PATHS } from './screens.ts'

/** Its only frame is that of a mail. */
const PAGE_POLICY = `${STRICT_CONTENT_SECURITY_POLICY}; frame-src 'self'`

/** The frame that shows a mail of an app has no origin, and loads nothing but its own script. A mail has its styles in its tags. */
const MAIL_FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

export function createWebPages(): Router {
  const site = readBuiltSite('dashboard')
  const router = new Router({ sensitive: true })

  function servePage(ctx: Context): void {
    const page = site?.get('/index.html')
    if (!page)
      throw httpException(404, 'The pages of the dashboard are not built. Run `npm run build`, then start again.')
    setPageSecurityHeaders(ctx, PAGE_POLICY)
    serveSiteFile(ctx, page, 'ask each time')
  }
  for (const path of PAGE_PATHS) router.get(path, servePage)
  router.get('/dashboard-assets/:name', ctx => {
    const file = site?.get(`/dashboard-assets/${ctx.params.name}`)
    if (file) serveSiteFile(ctx, file, 'forever')
  })
  const serveFile = (name: string, prepare: (ctx: Context) => void = () => {}): Router =>
    router.get(name, ctx => {
      const file = site?.get(name)
      if (!file) return
      prepare(ctx)
      serveSiteFile(ctx, file, 'ask each time')
    })
  serveFile('/favicon.svg')
  serveFile('/theme.js')
  serveFile('/mail-frame.html', ctx => setPageSecurityHeaders(ctx, MAIL_FRAME_POLICY))
  // To its frame, which has no origin, everything is of another one.
  serveFile('/mail-frame.js', ctx => ctx.set('Cross-Origin-Resource-Policy', 'cross-origin'))
  return router
}
