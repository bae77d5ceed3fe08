import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import {
  exchangeRequest,
  resendRequest,
  sendRequest,
  statusRequest,
  verifyRequest,
} from '../../../../services/dashboard/web/screens/try/api-request.ts'
import { hideKey, sampleOf } from '../../../../services/dashboard/web/screens/try/samples.ts'

const ORIGIN = 'https://otp.example'
const KEY = 'sk_test_abc'

/** The arguments that a shell gives to curl. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', command.replace(/^curl/, "printf '%s\\n'")], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

describe('a request of Try it as a developer writes it', () => {
  it('is a curl command that a shell reads as it was meant, also with quotes in the recipient', () => {
    const command = sampleOf('curl', ORIGIN, sendRequest("o'neil@example.com")(KEY))
    expect(argumentsOf(command)).to.deep.equal([
      '-s',
      'https://otp.example/api/v1/otp/send',
      '-H',
      'authorization: Bearer sk_test_abc',
      '-H',
      'content-type: application/json',
      '-d',
      '{"recipient":"o\'neil@example.com"}',
    ])
  })

  it('is a call of the TypeScript client that makes the same request', async () => {
    const sample = sampleOf('TypeScript', ORIGIN, resendRequest('otp_1', 'telegram')(KEY))
    const calls: unknown[] = []
    class Countersign {
      constructor(options: object) {
        calls.push(options)
      }
      resend(body: object) {
        calls.push(body)
      }
    }
    const run = new Function('Countersign', 'console', `return (async () => { ${sample.replace(/^import .*/, '')} })()`)
    await run(Countersign, { log: () => {} })
    expect(calls).to.deep.equal([
      { key: KEY, baseUrl: ORIGIN },
      { otp_id: 'otp_1', channel: 'telegram' },
    ])
    expect(sampleOf('TypeScript', ORIGIN, statusRequest('otp_1')(KEY))).to.include(
      "countersign.status({ otp_id: 'otp_1' })",
    )
  })

  it('is a call of the Python client', () => {
    expect(sampleOf('Python', ORIGIN, verifyRequest('otp_1', '123456')(KEY))).to.equal(
      [
        'from countersign import Countersign',
        '',
        'client = Countersign("sk_test_abc", base_url="https://otp.example")',
        'print(client.verify(otp_id="otp_1", code="123456"))',
      ].join('\n'),
    )
  })

  it('can hide its key', () => {
    const request = exchangeRequest('otp_vt_x')('pk_test_0123456789abcdef')
    expect(hideKey(request)).to.deep.equal({ ...request, key: 'pk_test_…' })
  })
})
