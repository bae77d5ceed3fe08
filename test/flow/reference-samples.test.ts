// The samples of /docs do what they say: each is run, as a reader would run it, against a running Countersign. A language that this
// machine does not have is reported and not run.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import type { Language } from '../../services/edge/docs/samples/request.ts'
import { type Countersign, createStarter } from '../support/countersign.ts'
import { HAS_CURL, HAS_GO, HAS_PHP, HAS_PYTHON_REQUESTS, type Ran, run } from '../support/interpreters.ts'
import { readSamples } from '../support/reference-samples.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

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

/** What each sample prints, in the words of any of the languages. */
const EXPECTED: Record<string, RegExp> = {
  send: /otp_id\W+otp_[\s\S]*pending/,
  status: /otp_id\W+otp_[\s\S]*attempts_left\W+5\b/,
  verify: /matched\W+(false|False|\n?\s*\[)/,
  cancel: /status\W+(=>\s*)?canceled/,
  // Its token is an example: Countersign refuses it, and the sample says so.
  exchange: /404|Not Found/,
  listCompanies: /cmp_acme/,
  createCompany: /cmp_[\s\S]*Acme/,
}

type Sources = Record<string, string>

interface Runner {
  name: string
  language: Language
  isHere: boolean
  /** Runs the sample of each section, in their order, and returns what each printed. */
  run(sources: Sources, env: Record<string, string>): Promise<Record<string, Ran>>
}

async function runEach(
  sources: Sources,
  runOne: (file: string) => Promise<Ran>,
  extension: string,
): Promise<Record<string, Ran>> {
  const folder = createTemporaryFolder()
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
    run: (sources, env) =>
      runEach(sources, file => run(process.execPath, ['--import', 'tsx', file], { cwd: PROJECT_ROOT, env }), 'mts'),
  },
  {
    name: 'Python with requests',
    language: 'python',
    isHere: HAS_PYTHON_REQUESTS,
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
      const goEnv = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' }
      expect(await run('go', ['build', '-o', 'bin/', './...'], { cwd: folder, env: goEnv })).to.deep.equal({
        code: 0,
        output: '',
      })
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

describe('the samples of the reference, when they are run', function () {
  this.timeout(300_000)
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

  for (const { name, language, isHere, run: runSamples } of RUNNERS)
    it(isHere ? `do what they say: ${name}` : `are not run, because this machine has no ${name}`, async () => {
      if (!isHere) return
      const countersign = await start({ bootstrap: BOOTSTRAP })
      const otpId = await newVerification(countersign)
      const pages = await Promise.all(
        ['client-api', 'admin-companies'].map(async page => (await fetch(`${countersign.url}/docs/${page}`)).text()),
      )
      const samples = new Map(pages.flatMap(readSamples).map(({ section, texts }) => [section, texts[language]]))
      const sources = Object.fromEntries(
        Object.keys(EXPECTED).map(section => {
          const text = samples.get(section) ?? ''
          return [
            section,
            text
              .replaceAll(/http:\/\/localhost:\d+/g, countersign.url)
              .replaceAll(/\botp_01k2m8x4e9s7v3hqz5tnw6yb0c\b/g, otpId),
          ]
        }),
      )
      const ran = await runSamples(sources, {
        SERVER_KEY,
        PUBLISHABLE_KEY,
        ADMIN_TOKEN: countersign.secrets.adminTokens[0]?.token ?? '',
      })
      for (const [section, expected] of Object.entries(EXPECTED))
        expect(ran[section]?.output, `${name}: ${section}`).to.match(expected)
    })
})
