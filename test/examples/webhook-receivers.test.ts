// The receivers of webhooks in docs/examples that need another language than JavaScript, run as processes.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Backend, backendOnPort, listeningBackend } from '../support/backend.ts'
import { spawnCommand } from '../support/child.ts'
import { buildGo, GO_EXAMPLES, needGo } from '../support/go.ts'
import { HAS_PHP_CLI } from '../support/interpreters.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import {
  addFailingWork,
  copyWithFailingWork,
  itReceivesWebhooks,
  SECRET,
  sendEvent,
  signed,
} from '../support/webhook-receiver.ts'

describe('the receiver of webhooks in Python', () => {
  let bin = ''
  before(async function () {
    await needPython(this)
    bin = await createEnvironment([(await buildClient()).wheel])
  })
  itReceivesWebhooks(env => {
    const program = copyWithFailingWork('webhook-receiver.py')
    return listeningBackend(spawnCommand(join(bin, 'python'), [program], env))
  })
})

describe('the receiver of webhooks in Go', () => {
  let program = ''
  before(async function () {
    needGo(this)
    const folder = createTemporaryFolder()
    cpSync(GO_EXAMPLES, folder, { recursive: true })
    addFailingWork(join(folder, 'webhook-receiver/main.go'))
    program = await buildGo('webhook-receiver', folder)
  })
  itReceivesWebhooks(env => listeningBackend(spawnCommand(program, [], env)))
})

describe('the receiver of webhooks in PHP', () => {
  before(function () {
    if (HAS_PHP_CLI) return
    console.log('skipped: php is needed (apt-get install php-cli)')
    this.skip()
  })
  /** The handled ids are files in the temporary folder. */
  const start = (env: Record<string, string>, TMPDIR = createTemporaryFolder()): Promise<Backend> =>
    backendOnPort(port => {
      const program = copyWithFailingWork('webhook-receiver.php')
      return spawnCommand('php', ['-S', `127.0.0.1:${port}`, program], { ...env, TMPDIR })
    })
  itReceivesWebhooks(env => start(env))

  it('refuses an event that it cannot remember', async () => {
    const backend = await start({ WEBHOOK_SECRETS: SECRET }, join(createTemporaryFolder(), 'missing'))
    const event = { id: 'evt_1', body: '{"id":"evt_1","type":"otp.approved","payload":{}}' }
    expect(await sendEvent(await backend.url, event.body, signed(event))).to.equal(500)
    backend.process.process.kill()
    await backend.process.exited
  })
})
