// The samples that check the signature of a webhook accept real signatures and refuse forged ones. The test of a language that this
// machine does not have is skipped.
import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../../../infra/web/built-site.ts'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../../../services/domain/webhooks/signature-sample.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'
import { SIGNED_EVENT } from '../../../../services/edge/docs/guides/webhooks.ts'
import { SIGNATURE_SAMPLES } from '../../../../services/edge/docs/samples/signature.ts'
import { WEBHOOKS } from '../../../../services/edge/openapi/webhooks.ts'
import { GO_BUILD, HAS_GO, HAS_OPENSSL, HAS_PHP, HAS_PYTHON, type Ran, run } from '../../../support/interpreters.ts'
import { createTemporaryFolder } from '../../../support/temporary-folder.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const MINUTES = 60_000

interface Case {
  what: string
  isGenuine: boolean
  timestamp: string
  signature: string
  body: string
}

const BODY = JSON.stringify({ id: 'evt_1', type: 'otp.approved', payload: { otp_id: 'otp_1', note: 'é "quoted"\n' } })

function signed(at: number, secret = SECRET): Omit<Case, 'what' | 'isGenuine'> {
  const headers = signatureHeaders({ id: 'evt_1', body: BODY, at, secrets: [secret] })
  return {
    timestamp: headers['x-webhook-timestamp'] ?? '',
    signature: headers['x-webhook-signature'] ?? '',
    body: BODY,
  }
}

const cases = (now: number): Case[] => [
  { what: 'a genuine event', isGenuine: true, ...signed(now) },
  { what: 'one of four minutes ago', isGenuine: true, ...signed(now - 4 * MINUTES) },
  { what: 'a changed body', isGenuine: false, ...signed(now), body: `${BODY} ` },
  { what: 'a changed timestamp', isGenuine: false, ...signed(now), timestamp: String(Math.floor(now / 1000) - 1) },
  { what: 'another secret', isGenuine: false, ...signed(now, 'whsec_c29tZW9uZSBlbHNl') },
  { what: 'a stale one', isGenuine: false, ...signed(now - 6 * MINUTES) },
  { what: 'one of the future', isGenuine: false, ...signed(now + 6 * MINUTES) },
  { what: 'half a signature', isGenuine: false, ...signed(now), signature: signed(now).signature.slice(0, 32) },
]

/** A program that prints `genuine` or `forged` for the file `cases.json`, one line each. */
interface Runner {
  language: string
  isHere: boolean
  run(folder: string, cases: readonly Case[]): Promise<Ran>
}

const nodeRunner = (language: string, sample: string, file: string): Runner => ({
  language,
  isHere: true,
  run(folder) {
    const program = `${sample}
import { readFileSync } from 'node:fs'
for (const { timestamp, signature, body } of JSON.parse(readFileSync('${folder}/cases.json', 'utf8'))) {
  const headers = { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }
  console.log(isGenuine(Buffer.from(body), headers, '${SECRET}') ? 'genuine' : 'forged')
}
`
    writeFileSync(join(folder, file), program)
    return run(process.execPath, ['--import', 'tsx', join(folder, file)], { cwd: PROJECT_ROOT })
  },
})

const RUNNERS: Runner[] = [
  {
    language: 'a shell',
    isHere: HAS_OPENSSL,
    async run(folder, all) {
      let output = ''
      for (const { timestamp, signature, body } of all) {
        writeFileSync(join(folder, 'body.json'), body)
        const env = { TIMESTAMP: timestamp, SIGNATURE: signature, WEBHOOK_SECRET: SECRET }
        output += (await run('sh', ['-c', SIGNATURE_SAMPLES.curl], { cwd: folder, env })).output
      }
      return { code: 0, output }
    },
  },
  nodeRunner('TypeScript', SIGNATURE_SAMPLES.typescript, 'check.mts'),
  nodeRunner('JavaScript, as the dashboard shows it', JAVASCRIPT_SIGNATURE_SAMPLE, 'check.mjs'),
  {
    language: 'Python',
    isHere: HAS_PYTHON,
    run(folder) {
      const program = `${SIGNATURE_SAMPLES.python}


import json
for one in json.load(open("cases.json", encoding="utf-8")):
    headers = {"X-Webhook-Timestamp": one["timestamp"], "X-Webhook-Signature": one["signature"]}
    print("genuine" if is_genuine(one["body"].encode(), headers, "${SECRET}") else "forged")
`
      writeFileSync(join(folder, 'check.py'), program)
      return run('python3', ['check.py'], { cwd: folder })
    },
  },
  {
    language: 'Go',
    isHere: HAS_GO,
    run(folder) {
      mkdirSync(join(folder, 'webhooks'), { recursive: true })
      writeFileSync(join(folder, 'go.mod'), 'module samples\n\ngo 1.21\n')
      writeFileSync(join(folder, 'webhooks', 'webhooks.go'), SIGNATURE_SAMPLES.go)
      const program = `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"samples/webhooks"
)

func main() {
	content, _ := os.ReadFile("cases.json")
	var all []struct{ Timestamp, Signature, Body string }
	if err := json.Unmarshal(content, &all); err != nil {
		panic(err)
	}
	for _, one := range all {
		header := http.Header{}
		header.Set("X-Webhook-Timestamp", one.Timestamp)
		header.Set("X-Webhook-Signature", one.Signature)
		if webhooks.IsGenuine([]byte(one.Body), header, "${SECRET}") {
			fmt.Println("genuine")
		} else {
			fmt.Println("forged")
		}
	}
}
`
      writeFileSync(join(folder, 'main.go'), program)
      return run('go', ['run', ...GO_BUILD.flags, '.'], { cwd: folder, env: GO_BUILD.env })
    },
  },
  {
    language: 'PHP',
    isHere: HAS_PHP,
    run(folder) {
      const program = `${SIGNATURE_SAMPLES.php}
foreach (json_decode(file_get_contents('cases.json'), true) as $one) {
    $headers = ['X-Webhook-Timestamp' => $one['timestamp'], 'X-Webhook-Signature' => $one['signature']];
    echo isGenuine($one['body'], $headers, '${SECRET}') ? "genuine\\n" : "forged\\n";
}
`
      writeFileSync(join(folder, 'check.php'), program)
      return run('php', ['check.php'], { cwd: folder })
    },
  },
]

describe('the samples that check a signature', () => {
  for (const { language, isHere, run: check } of RUNNERS)
    it(`accept and refuse rightly in ${language}`, async function () {
      if (!isHere) this.skip()
      const folder = createTemporaryFolder()
      const all = cases(Date.now())
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(all))
      const { output } = await check(folder, all)
      const told = output.trim().split('\n')
      expect(all.map(({ what }, at) => `${what}: ${told[at]}`)).to.deep.equal(
        all.map(({ what, isGenuine }) => `${what}: ${isGenuine ? 'genuine' : 'forged'}`),
      )
    })
})

describe('what the reference says about webhooks', () => {
  it('has a real signature on its event', () => {
    const headers = new Map(WEBHOOKS[0]?.headers.map(({ name, example }) => [name, String(example)]))
    const signed = `${headers.get('X-Webhook-Timestamp')}.${SIGNED_EVENT.body}`
    expect(createHmac('sha256', SIGNED_EVENT.secret).update(signed).digest('hex')).to.equal(
      headers.get('X-Webhook-Signature'),
    )
  })
})
