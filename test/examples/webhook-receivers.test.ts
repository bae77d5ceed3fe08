// The receivers of webhooks in docs/examples that need another language than JavaScript, run as processes.
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { backendOnPort, listeningBackend } from '../support/backend.ts'
import { spawnCommand } from '../support/child.ts'
import { buildGo, needGo } from '../support/go.ts'
import { HAS_PHP_CLI } from '../support/interpreters.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { itReceivesWebhooks } from '../support/webhook-receiver.ts'

describe('the receiver of webhooks in Python', () => {
  let bin = ''
  before(async function () {
    await needPython(this)
    bin = await createEnvironment([(await buildClient()).wheel])
  })
  const program = join(PROJECT_ROOT, 'docs/examples/webhook-receiver.py')
  itReceivesWebhooks(env => listeningBackend(spawnCommand(join(bin, 'python'), [program], env)))
})

describe('the receiver of webhooks in Go', () => {
  let program = ''
  before(async function () {
    needGo(this)
    program = await buildGo('webhook-receiver')
  })
  itReceivesWebhooks(env => listeningBackend(spawnCommand(program, [], env)))
})

describe('the receiver of webhooks in PHP', () => {
  before(function () {
    if (HAS_PHP_CLI) return
    console.log('skipped: php is needed (apt-get install php-cli)')
    this.skip()
  })
  const program = join(PROJECT_ROOT, 'docs/examples/webhook-receiver.php')
  itReceivesWebhooks(env =>
    // The handled ids are files in the temporary folder.
    backendOnPort(port =>
      spawnCommand('php', ['-S', `127.0.0.1:${port}`, program], { ...env, TMPDIR: createTemporaryFolder() }),
    ),
  )
})
