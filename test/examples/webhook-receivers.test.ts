// The receivers of webhooks in docs/examples that need another language than JavaScript, run as processes.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { listeningBackend } from '../support/backend.ts'
import { spawnCommand } from '../support/child.ts'
import { buildGo, GO_EXAMPLES, needGo } from '../support/go.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { addFailingWork, copyWithFailingWork, itReceivesWebhooks } from '../support/webhook-receiver.ts'

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
