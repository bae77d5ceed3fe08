import { Router } from '@koa/router'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { createGate } from '../../support/gate.ts'
import { request, useShellServers } from '../../support/http-shell.ts'

describe('a client that hangs up', () => {
  const startServer = useShellServers()

  it('before the answer does not stop the work', async () => {
    const seen: string[] = []
    const { released, release } = createGate()
    const router = new Router()
    router.get('/slow', async ctx => {
      seen.push('asked')
      await released
      ctx.body = { done: true }
      seen.push('done')
    })
    const { openConnection, log } = await startServer(router)
    const { socket, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(seen).to.deep.equal(['asked']))
    socket.destroy()
    await closed
    release()
    await eventually(() => expect(log.lines().filter(({ msg }) => msg === 'http.answered')).to.have.length(1))
    expect(seen).to.deep.equal(['asked', 'done'])
    expect(log.lines().map(({ level }) => level)).not.to.include('error')
  })
})
