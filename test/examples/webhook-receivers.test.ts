// The receivers of webhooks in docs/examples that need another language than JavaScript, run as processes.
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { spawnCommand } from '../support/child.ts'
import { buildGo, needGo } from '../support/go.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'
import { itReceivesWebhooks } from '../support/webhook-receiver.ts'

describe('the receiver of webhooks in Python', () => {
  let bin = ''
  before(async function () {
    await needPython(this)
    bin = await createEnvironment([(await buildClient()).wheel])
  })
  itReceivesWebhooks(env =>
    spawnCommand(join(bin, 'python'), [join(PROJECT_ROOT, 'docs/examples/webhook-receiver.py')], env),
  )
})

describe('the receiver of webhooks in Go', () => {
  let program = ''
  before(async function () {
    needGo(this)
    program = await buildGo('webhook-receiver')
  })
  itReceivesWebhooks(env => spawnCommand(program, [], env))
})
