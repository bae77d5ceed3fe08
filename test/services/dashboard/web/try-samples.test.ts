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

  it('has no body where there is none', () => {
    expect(argumentsOf(sampleOf('curl', ORIGIN, statusRequest('otp_1')(KEY)))).to.deep.equal([
      '-s',
      'https://otp.example/api/v1/otp/otp_1',
      '-H',
      'authorization: Bearer sk_test_abc',
    ])
    expect(sampleOf('TypeScript', ORIGIN, statusRequest('otp_1')(KEY))).not.to.contain('body')
    expect(sampleOf('Python', ORIGIN, statusRequest('otp_1')(KEY)))
      .to.contain('requests.get(')
      .and.not.to.contain('json=')
  })

  it('is TypeScript that makes the same request', async () => {
    const sample = sampleOf('TypeScript', ORIGIN, resendRequest('otp_1', 'telegram')(KEY))
    const calls: unknown[] = []
    const fetchFake = async (...args: unknown[]) => {
      calls.push(args)
      return { status: 200, json: async () => ({}) }
    }
    const run = new Function('fetch', 'console', `return (async () => { ${sample} })()`)
    await run(fetchFake, { log: () => {} })
    expect(calls).to.deep.equal([
      [
        'https://otp.example/api/v1/otp/resend',
        {
          method: 'POST',
          headers: { authorization: 'Bearer sk_test_abc', 'content-type': 'application/json' },
          body: '{"otp_id":"otp_1","channel":"telegram"}',
        },
      ],
    ])
  })

  it('is Python', () => {
    expect(sampleOf('Python', ORIGIN, verifyRequest('otp_1', '123456')(KEY))).to.equal(
      [
        'import requests',
        '',
        'response = requests.post(',
        '    "https://otp.example/api/v1/otp/verify",',
        '    headers={"authorization": "Bearer sk_test_abc"},',
        '    json={',
        '        "otp_id": "otp_1",',
        '        "code": "123456"',
        '    },',
        ')',
        'print(response.status_code, response.json())',
      ].join('\n'),
    )
  })

  it('can hide its key', () => {
    const request = exchangeRequest('otp_vt_x')('pk_test_0123456789abcdef')
    expect(hideKey(request)).to.deep.equal({ ...request, key: 'pk_test_…' })
  })
})
