// The query of a request, as handlers read it.
import { Router } from '@koa/router'
import { expect } from 'chai'
import { useShellServers } from '../../support/http-shell.ts'

describe('a query', () => {
  const startServer = useShellServers()
  const router = new Router()
  router.get('/', ctx => {
    ctx.body = Object.entries({ ...ctx.query, again: ctx.query === ctx.request.query })
  })

  it('has a text for each name, a list where a name is given more than once, and no name that is special', async () => {
    const { ask } = await startServer(router)
    const { body } = await ask('/?a=1&b=x%20y&c&a=&a=3&__proto__=p&__proto__=q')
    expect(body).to.deep.equal([
      ['a', ['1', '', '3']],
      ['b', 'x y'],
      ['c', ''],
      ['__proto__', ['p', 'q']],
      ['again', true],
    ])
  })

  it('is read in one pass, however many parameters it has', async () => {
    const { ask } = await startServer(router)
    const { getAll } = URLSearchParams.prototype
    let searches = 0
    URLSearchParams.prototype.getAll = function (name) {
      searches += 1
      return getAll.call(this, name)
    }
    try {
      const { body } = await ask(`/?${'q&'.repeat(6_000)}`)
      expect(body[0][1]).to.have.length(6_000)
    } finally {
      URLSearchParams.prototype.getAll = getAll
    }
    expect(searches).to.equal(0)
  })
})
