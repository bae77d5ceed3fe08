// The examples in the documentation that readers copy are real: the signed event verifies, and the bootstrap files are accepted.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { parseSolution } from '../../machines/challenge.ts'
import { readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import { CHALLENGE_SAMPLE } from '../../services/edge/docs/samples/challenge.ts'

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

describe('the code that solves a challenge', () => {
  const [shown = ''] = blocks('docs/challenges.md', 'js')

  it('is the same in docs/challenges.md and in the reference', () => {
    expect(shown.trimEnd()).to.equal(CHALLENGE_SAMPLE)
  })

  it('has the solver that Try it uses, but for its types and its lines', () => {
    const withoutLines = (text: string): string => text.replaceAll(/[\s;]/g, '')
    const solver = readFileSync('clients/typescript/src/challenge-solver.ts', 'utf8').replaceAll(
      /: (number|string)\b/g,
      '',
    )
    const functionIn = (text: string): string => text.slice(text.indexOf('function solveChallenge'))
    expect(withoutLines(functionIn(shown))).to.equal(withoutLines(functionIn(solver)))
  })

  it('is beside a challenge whose salt carries its difficulty and its time', () => {
    const [example = ''] = blocks('docs/challenges.md', 'json')
    const { salt, signature, difficulty, expires_at } = JSON.parse(example).challenge
    const carried = { difficulty, expires_at: Date.parse(expires_at) }
    expect(parseSolution(`${salt}.1.${signature}`)).to.deep.include(carried)
  })
})

describe('the bootstrap file', () => {
  for (const page of ['docs/configuration.md', 'docs/settings.md'])
    it(`in ${page} is accepted`, () => {
      const files = blocks(page, 'json').filter(block => block.includes('"companies"'))
      expect(files).to.not.deep.equal([])
      for (const file of files) expect(readBootstrap(file).companies).to.not.deep.equal([])
    })
})
