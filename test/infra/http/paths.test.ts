import { createHash } from 'node:crypto'
import { Router } from '@koa/router'
import { expect } from 'chai'
import { httpException } from '../../../infra/http/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith, request, routerWith, useShellServers } from '../../support/http-shell.ts'

describe('a path', () => {
  const startServer = useShellServers()

  /** One path shared by two routers, as services share `/api/v1`. */
  function shop(): [Router, Router] {
    const [reading, writing] = [new Router({ prefix: '/shop' }), new Router()]
    reading.get('/items/:id', ctx => answerWith({ id: ctx.params.id })(ctx))
    const done = answerWith({ done: true })
    writing.put('/shop/items/:id', done)
    writing.delete('/shop/items/:id', done)
    writing.post('/shop/orders', done)
    return [reading, writing]
  }

  it('that nothing serves is 404 with every method', async () => {
    const { ask } = await startServer(...shop())
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const { status, headers, body } = await ask('/nowhere', { method })
      expect(status, method).to.equal(404)
      expect(headers.get('content-type')).to.equal('application/problem+json')
      expect(body).to.include({ type: 'HTTPException', title: 'Not Found', status: 404 })
    }
  })

  it('that nothing serves is a page with a way home for a browser that opens it', async () => {
    const { url } = await startServer(...shop())
    const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
    const page = await fetch(`${url}/nowhere`, { headers: browser })
    expect(page.status).to.equal(404)
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    const html = await page.text()
    expect(html).to.contain('<a href="/">')
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(html) ?? []
    const allowed = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
    expect(style).to.contain('light-dark(')
    expect(page.headers.get('content-security-policy')).to.contain(`default-src 'none'; style-src ${allowed};`)
    const posted = await fetch(`${url}/nowhere`, { method: 'POST', headers: browser })
    expect(posted.headers.get('content-type')).to.equal('application/problem+json')
  })

  it('is 405 with another method than its own, which it lists over all routers', async () => {
    const { ask } = await startServer(...shop())
    const { status, headers, body } = await ask('/shop/items/7', { method: 'PATCH' })
    expect(status).to.equal(405)
    expect(headers.get('allow')).to.equal('DELETE, GET, HEAD, PUT')
    expect(body).to.include({ type: 'HTTPException', detail: 'This address takes DELETE, GET, HEAD, PUT.' })
    expect((await ask('/shop/orders')).headers.get('allow')).to.equal('POST')
  })

  it('is 405 with the methods of its own pattern, where another would take its last word for an id', async () => {
    const router = new Router()
    router.post('/shop/items/import', answerWith({}))
    router.get('/shop/items/:id', answerWith({}))
    const { ask } = await startServer(router)
    const { status, headers, body } = await ask('/shop/items/import', { method: 'DELETE' })
    expect([status, headers.get('allow'), body.code]).to.deep.equal([405, 'POST', 'method_not_allowed'])
  })

  it('is 404, not 405, with nothing but a middleware, or where its handler does not answer', async () => {
    const router = new Router()
    router.use('/shop', (_, next) => next())
    router.get('/shop/items', answerWith({}))
    const { ask } = await startServer(
      router,
      routerWith('/pages/:name', (_, next) => next()),
    )
    for (const path of ['/shop/other', '/pages/none']) {
      const { status, body } = await ask(path)
      expect(status, path).to.equal(404)
      expect(body).to.include({ type: 'HTTPException', status: 404 })
    }
  })

  it('answers HEAD as GET, without the body', async () => {
    const { ask } = await startServer(...shop())
    const { status, headers, body } = await ask('/shop/items/7', { method: 'HEAD' })
    expect([status, headers.get('content-length'), body]).to.deep.equal([200, '10', ''])
    expect((await ask('/shop/orders', { method: 'HEAD' })).status).to.equal(405)
    expect((await ask('/nowhere', { method: 'HEAD' })).status).to.equal(404)
  })

  it('answers OPTIONS with its methods, unless it serves OPTIONS', async () => {
    const own = new Router()
    own.options('/own', ctx => {
      ctx.set('Access-Control-Allow-Origin', 'https://shop.example')
      ctx.status = 204
    })
    const { ask } = await startServer(...shop(), own)
    const options = { method: 'OPTIONS' }
    const { status, headers } = await ask('/shop/items/7', options)
    expect([status, headers.get('allow')]).to.deep.equal([204, 'DELETE, GET, HEAD, PUT, OPTIONS'])
    expect((await ask('/own', options)).headers.get('access-control-allow-origin')).to.equal('https://shop.example')
  })

  it('appears in metrics and log as its pattern only', async () => {
    const { ask, metrics, log } = await startServer(...shop())
    await ask('/shop/items/otp_secret?recipient=bob_secret')
    await ask('/shop/items/otp_secret', { method: 'PATCH' })
    await ask('/nowhere/otp_secret')
    const { body } = await metrics.render()
    expect(body).to.contain('countersign_http_requests_total{method="GET",route="/shop/items/:id",status="200"} 1')
    expect(body).to.contain('{method="PATCH",route="none",status="405"} 1')
    expect(body).to.contain('{method="GET",route="none",status="404"} 1')
    expect(body + log.output()).not.to.contain('secret')
    expect(log.lines().map(({ route, status }) => [route, status])).to.deep.equal([
      ['/shop/items/:id', 200],
      ['none', 405],
      ['none', 404],
    ])
  })

  it('appears as its own pattern where another takes everything below, or a middleware refuses before it', async () => {
    const [router, guarded] = [new Router(), new Router({ prefix: '/api' })]
    router.get('/shop/items/:id', answerWith({}))
    router.all('/shop/*path', () => {
      throw httpException(404)
    })
    for (const path of ['/admin/v1/apps/:id', '/healthz']) router.get(path, answerWith({}))
    guarded.use(() => {
      throw httpException(401)
    })
    guarded.get('/otp/:id', answerWith({}))
    const { ask, log, metrics } = await startServer(router, guarded)
    for (const path of ['/shop/items/7', '/shop/nothing', '/api/otp/7', '/admin/v1/apps/a', '/healthz']) await ask(path)
    expect(log.lines().map(({ level, route, status }) => [level, route, status])).to.deep.equal([
      ['info', '/shop/items/:id', 200],
      ['info', '/shop/*path', 404],
      ['info', '/api/otp/:id', 401],
      ['info', '/admin/v1/apps/:id', 200],
      ['debug', '/healthz', 200],
    ])
    const { body } = await metrics.render()
    expect(body, 'one for all').to.contain('requests_total{method="GET",route="/admin/v1/*",status="200"} 1')
  })

  it('is measured by the clock', async () => {
    const { ask, clock, metrics, log } = await startServer(
      routerWith('/slow', async ctx => {
        await clock.advance(250)
        ctx.body = {}
      }),
    )
    await ask('/slow')
    expect(log.lines().at(-1)).to.include({ ms: 250 })
    expect((await metrics.render()).body).to.contain('_sum{method="GET",route="/slow"} 0.25')
  })

  it('that is malformed is refused, and the next request is served', async () => {
    const { ask, openConnection } = await startServer(...shop())
    const targets = { 'http://x:bad/': 400, '*': 404, '//evil': 404, '/%ZZ': 404, [`/${'x'.repeat(8000)}`]: 404 }
    for (const [target, status] of Object.entries(targets)) {
      const { socket, received } = await openConnection()
      socket.write(request(target))
      await eventually(() => expect(received()).to.match(new RegExp(`^HTTP/1.1 ${status} `)))
      socket.destroy()
    }
    expect((await ask('/shop/items/7')).status).to.equal(200)
  })
})
