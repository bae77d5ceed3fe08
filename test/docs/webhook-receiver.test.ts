// The receivers that docs/webhooks.md shows in JavaScript and PHP, run as processes. Those in other languages: test/examples.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../services/domain/webhooks/signature-sample.ts'
import { type Backend, backendOnPort, listeningBackend } from '../support/backend.ts'
import { spawnChild, spawnCommand } from '../support/child.ts'
import { HAS_PHP_CLI } from '../support/interpreters.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { copyWithFailingWork, itReceivesWebhooks, SECRET, sendEvent, signed } from '../support/webhook-receiver.ts'

const EXAMPLE = join(PROJECT_ROOT, 'docs/examples/webhook-receiver.mjs')

describe('the documented receiver of webhooks', () => {
  itReceivesWebhooks(env => listeningBackend(spawnChild(copyWithFailingWork('webhook-receiver.mjs'), env)))

  it('checks signatures as the reference and the dashboard show it', () => {
    const [, check = ''] = JAVASCRIPT_SIGNATURE_SAMPLE.split('\n\n')
    expect(readFileSync(EXAMPLE, 'utf8')).to.contain(check)
  })
})

describe('the documented receiver of webhooks in PHP', () => {
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

  it('compares signatures in constant time, and in no other way', () => {
    const text = readFileSync(join(PROJECT_ROOT, 'docs/examples/webhook-receiver.php'), 'utf8')
    expect(text)
      .to.contain('hash_equals(hash_hmac(')
      .and.not.match(/\$signature\s*[!=]=|[!=]=\s*\$signature|strcmp/)
  })

  it('refuses an event that it cannot remember', async () => {
    const backend = await start({ WEBHOOK_SECRETS: SECRET }, join(createTemporaryFolder(), 'missing'))
    const event = { id: 'evt_1', body: '{"id":"evt_1","type":"otp.approved","payload":{}}' }
    expect(await sendEvent(await backend.url, event.body, signed(event))).to.equal(500)
    backend.process.process.kill()
    await backend.process.exited
  })
})
