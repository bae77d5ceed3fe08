// The receiver that docs/webhooks.md shows, run as a process. Those in other languages: test/examples.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../services/domain/webhooks/signature-sample.ts'
import { listeningBackend } from '../support/backend.ts'
import { spawnChild } from '../support/child.ts'
import { copyWithFailingWork, itReceivesWebhooks } from '../support/webhook-receiver.ts'

const EXAMPLE = join(PROJECT_ROOT, 'docs/examples/webhook-receiver.mjs')

describe('the documented receiver of webhooks', () => {
  itReceivesWebhooks(env => listeningBackend(spawnChild(copyWithFailingWork('webhook-receiver.mjs'), env)))

  it('checks signatures as the reference and the dashboard show it', () => {
    const [, check = ''] = JAVASCRIPT_SIGNATURE_SAMPLE.split('\n\n')
    expect(readFileSync(EXAMPLE, 'utf8')).to.contain(check)
  })
})

/** Text alone, because CI has no PHP: it shows that the checks are there, not that they work. test/examples runs it where there is PHP. */
describe('the documented receiver of webhooks in PHP, as text', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'docs/examples/webhook-receiver.php'), 'utf8')

  it('compares signatures in constant time, and in no other way', () => {
    expect(text).to.contain(`hash_equals(hash_hmac('sha256', "$timestamp.$rawBody", $secret), $signature)`)
    expect(text).to.not.match(/\$signature\s*[!=]=|[!=]=\s*\$signature|strcmp/)
  })

  it('allows five minutes either way', () => {
    expect(text).to.contain('const TOLERANCE_SECONDS = 300;')
    expect(text).to.contain('abs(time() - (int) $timestamp) <= TOLERANCE_SECONDS')
  })

  it('tries every secret, on the raw body', () => {
    expect(text).to.match(/foreach \(.*getenv\('WEBHOOK_SECRETS'\).* as \$secret\) \{\s+if \(isGenuine\(\$rawBody, /)
    expect(text).to.contain("$rawBody = (string) file_get_contents('php://input'")
  })

  it('remembers an event once it is handled, and fails if it cannot', () => {
    expect(text).to.match(/handle\(\$event\);\s+\/\/.*\s+fwrite\(\$file, '1'\);/)
    expect(text).to.match(/if \(\$file === false \|\| .*\) \{\s+throw /)
  })

  it('says that CI does not run it', () => {
    expect(text).to.contain('Our CI has no PHP, so it reads this file and does not run it.')
  })
})
