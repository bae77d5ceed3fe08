// The receiver that docs/webhooks.md shows, run as a process. Those in other languages: test/examples.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../services/domain/webhooks/signature-sample.ts'
import { spawnChild } from '../support/child.ts'
import { itReceivesWebhooks } from '../support/webhook-receiver.ts'

const EXAMPLE = join(PROJECT_ROOT, 'docs/examples/webhook-receiver.mjs')

describe('the documented receiver of webhooks', () => {
  itReceivesWebhooks(env => spawnChild(EXAMPLE, env))

  it('checks signatures as the reference and the dashboard show it', () => {
    const [, check = ''] = JAVASCRIPT_SIGNATURE_SAMPLE.split('\n\n')
    expect(readFileSync(EXAMPLE, 'utf8')).to.contain(check)
  })
})
