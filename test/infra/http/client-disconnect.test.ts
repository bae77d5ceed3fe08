import { Router } from '@koa/router'
import { expect } from 'chai'
import { createReadJson } from '../../../infra/http/body.ts'
import { eventually } from '../../support/eventually.ts'
import { request, useShellServers } from '../../support/http-shell.ts'

describe('a client that hangs up', () => {
  const startServer = useShellServers()

  function createRouter() {
    const seen: string[] = []
    const gate = { open: () => {} }
    const readJson = createReadJson(1000)
    const router = new Router()
    router.post('/body', async ctx => {
      seen.push('asked')
      ctx.body = await readJson(ctx)
    })
    router.get('/slow', async ctx => {
      seen.push('asked')
      await new Promise<void>(resolve => {
        gate.open = resolve
      })
      ctx.body = { done: true }
      seen.push('done')
    })
    return { seen, gate, router }
  }
  const answered = (lines: Record<string, unknown>[]) => lines.filter(({ msg }) => msg === 'http.answered')

  it('in the middle of a body causes no error, and the next request is served', async () => {
    const { seen, router } = createRouter()
    const { openConnection, ask, log } = await startServer(router)
    const { socket } = await openConnection()
    socket.write(
      'POST /body HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"a"',
    )
    await eventually(() => expect(seen).to.deep.equal(['asked']))
    socket.destroy()
    await eventually(() => expect(answered(log.lines())).to.have.length(1))
    expect(log.lines().map(({ level }) => level)).not.to.include('error')
    const next = { method: 'POST', body: '{"a":1}', headers: { 'Content-Type': 'application/json' } }
    expect((await ask('/body', next)).body).to.deep.equal({ a: 1 })
  })

  it('before the answer does not stop the work', async () => {
    const { seen, gate, router } = createRouter()
    const { openConnection, log } = await startServer(router)
    const { socket, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(seen).to.deep.equal(['asked']))
    socket.destroy()
    await closed
    gate.open()
    await eventually(() => expect(answered(log.lines())).to.have.length(1))
    expect(seen).to.deep.equal(['asked', 'done'])
    expect(log.lines().map(({ level }) => level)).not.to.include('error')
  })
})
