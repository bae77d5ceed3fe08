// The backend of docs/examples/signup, run as a process. test/browser plays it with its page.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { hangUp } from '../support/backend.ts'
import { type Child, spawnChild } from '../support/child.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

describe('the backend of the documented sign-up page', () => {
  let backend: Child
  let url = ''
  before(async () => {
    const folder = await installTypescriptClient()
    cpSync(join(PROJECT_ROOT, 'docs/examples/signup'), join(folder, 'signup'), { recursive: true })
    backend = spawnChild(join(folder, 'signup/server.mjs'), { SERVER_KEY: 'sk_test_a', PORT: '0' })
    const line = await backend.waitForLine(one => one.startsWith('listening'))
    url = `${line.split(' ').at(-1)}/signup`
  })
  after(async () => {
    backend?.process.kill()
    await backend?.exited
  })

  it('goes on after a visitor hangs up within a request', async () => {
    await hangUp(url)
    for (const _ of [1, 2]) expect((await fetch(url)).status).to.equal(200)
    expect(backend.process.exitCode).to.equal(null)
  })

  it('refuses a form that is too large', async () => {
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(100_001) })).status).to.equal(413)
  })
})
