// The examples in the documentation that readers copy are real: the signed event verifies, and the bootstrap files are accepted.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'

const blocks = (path: string, language: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  )

describe('the signed event in docs/webhooks.md', () => {
  const [request = ''] = blocks('docs/webhooks.md', 'http')
  const [head = '', body = ''] = request.trimEnd().split('\n\n')
  const headers = new Map(
    head
      .split('\n')
      .slice(1)
      .map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  const [, secret = ''] = /signed with the secret `(whsec_[^`]+)`/.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? []

  it('has the signature that the public library makes', () => {
    const at = new Date(Number(headers.get('webhook-timestamp')) * 1000)
    const id = headers.get('webhook-id') ?? ''
    expect(new Webhook(secret).sign(id, at, body)).to.equal(headers.get('webhook-signature'))
    expect(JSON.parse(body).id).to.equal(id)
  })

  it("has Countersign's own signature", () => {
    const signed = `${headers.get('x-webhook-timestamp')}.${body}`
    expect(createHmac('sha256', secret).update(signed).digest('hex')).to.equal(headers.get('x-webhook-signature'))
  })
})

describe('the bootstrap file', () => {
  for (const page of ['README.md', 'docs/settings.md'])
    it(`in ${page} is accepted`, () => {
      const files = blocks(page, 'json').filter(block => block.includes('"companies"'))
      expect(files).to.not.deep.equal([])
      for (const file of files) expect(readBootstrap(file).companies).to.not.deep.equal([])
    })
})
