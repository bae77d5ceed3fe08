// The samples of /docs do what they say: each is run, as a reader would run it, against a running Countersign. The test of a
// language that this machine does not have is skipped.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import type { Language } from '../../services/edge/docs/samples/request.ts'
import { type Countersign, createStarter } from '../support/countersign.ts'
import { GO_BUILD, HAS_CURL, HAS_GO, HAS_PHP, HAS_PYTHON_REQUESTS, type Ran, run } from '../support/interpreters.ts'
import { PRINTED, samplesFrom } from '../support/reference-samples.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

const SERVER_KEY = 'sk_test_0123456789abcdefghijklmn'
const PUBLISHABLE_KEY = 'pk_test_0123456789abcdefghijklmn'

const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [
        {
          id: 'app_shop',
          name: 'Shop',
          keys: [
            { id: 'key_a', kind: 'server', mode: 'test', key: SERVER_KEY },
            { id: 'key_b', kind: 'publishable', mode: 'test', key: PUBLISHABLE_KEY },
          ],
        },
      ],
    },
  ],
}

type Sources = Record<string, string>

interface Runner {
  name: string
  language: Language
  isHere: boolean
  /** Those of the client API in Python need our client: test/clients/python runs them. */
  operations?: Record<string, RegExp>
  /** Runs the sample of each section, in their order, and returns what each printed. */
  run(sources: Sources, env: Record<string, string>): Promise<Record<string, Ran>>
}

async function runEach(
  sources: Sources,
  runOne: (file: string) => Promise<Ran>,
  extension: string,
  folder = createTemporaryFolder(),
): Promise<Record<string, Ran>> {
  const ran: Record<string, Ran> = {}
  for (const [section, text] of Object.entries(sources)) {
    const file = join(folder, `${section}.${extension}`)
    writeFileSync(file, text)
    ran[section] = await runOne(file)
  }
  return ran
}

const RUNNERS: Runner[] = [
  {
    name: 'curl',
    language: 'curl',
    isHere: HAS_CURL,
    run: (sources, env) => runEach(sources, file => run('sh', [file], { env }), 'sh'),
  },
  {
    name: 'TypeScript',
    language: 'typescript',
    isHere: true,
    run: async (sources, env) =>
      runEach(
        sources,
        file => run(process.execPath, ['--import', 'tsx', file], { cwd: PROJECT_ROOT, env }),
        'mts',
        await installTypescriptClient(),
      ),
  },
  {
    name: 'Python with requests',
    language: 'python',
    isHere: HAS_PYTHON_REQUESTS,
    operations: PRINTED.admin,
    run: (sources, env) => runEach(sources, file => run('python3', [file], { env }), 'py'),
  },
  {
    name: 'Go',
    language: 'go',
    isHere: HAS_GO,
    async run(sources, env) {
      const folder = createTemporaryFolder()
      writeFileSync(join(folder, 'go.mod'), 'module samples\n\ngo 1.21\n')
      for (const [section, text] of Object.entries(sources)) {
        mkdirSync(join(folder, section))
        writeFileSync(join(folder, section, 'main.go'), text)
      }
      const build = ['build', ...GO_BUILD.flags, '-o', 'bin/', './...']
      expect(await run('go', build, { cwd: folder, env: GO_BUILD.env })).to.deep.equal({ code: 0, output: '' })
      const ran: Record<string, Ran> = {}
      for (const section of Object.keys(sources)) ran[section] = await run(join(folder, 'bin', section), [], { env })
      return ran
    },
  },
  {
    name: 'PHP with curl',
    language: 'php',
    isHere: HAS_PHP,
    run: (sources, env) => runEach(sources, file => run('php', [file], { env }), 'php'),
  },
]

describe('the samples of the reference, when they are run', () => {
  const start = createStarter('embedded')

  /** A verification for the samples that need one, in place of the example's. */
  async function newVerification({ url }: Countersign): Promise<string> {
    const response = await fetch(`${url}/api/v1/otp/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ recipient: '+15005550010' }),
    })
    return ((await response.json()) as { otp_id: string }).otp_id
  }

  const everything = { ...PRINTED.client, ...PRINTED.admin }
  for (const { name, language, isHere, operations = everything, run: runSamples } of RUNNERS)
    it(`do what they say: ${name}`, async function () {
      if (!isHere) this.skip()
      const countersign = await start({ bootstrap: BOOTSTRAP })
      const otpId = await newVerification(countersign)
      const sources = await samplesFrom(countersign.url, { language, operations: Object.keys(operations), otpId })
      const ran = await runSamples(sources, {
        SERVER_KEY,
        PUBLISHABLE_KEY,
        ADMIN_TOKEN: countersign.secrets.adminTokens[0]?.token ?? '',
      })
      for (const [section, expected] of Object.entries(operations))
        expect(ran[section]?.output, `${name}: ${section}`).to.match(expected)
    })
})
