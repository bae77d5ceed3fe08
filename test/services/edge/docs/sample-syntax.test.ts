// Every sample of the reference is valid in its language. The test of a language that this machine does not have is skipped.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../../../infra/web/built-site.ts'
import { createReference } from '../../../../services/edge/docs/reference.ts'
import { writeSamples } from '../../../../services/edge/docs/samples/all-languages.ts'
import type { Language } from '../../../../services/edge/docs/samples/request.ts'
import { createFileDocument } from '../../../openapi/document.ts'
import { HAS_GO, HAS_PHP, HAS_PYTHON, run } from '../../../support/interpreters.ts'
import { readSamples } from '../../../support/reference-samples.ts'
import { createTemporaryFolder } from '../../../support/temporary-folder.ts'

/** A request with everything that could break a text of a program. */
const AWKWARD = {
  method: 'PUT',
  path: '/a?b=c&d=%2B1',
  token: 'SERVER_KEY',
  headers: { 'x-note': "it's" },
  body: {
    text: `'"\\ \`$x\` \${y} <b>\n`,
    'a-b': [1, 2.5, true, false, null],
    empty: {},
    none: [],
    deep: { list: [{ a: 'x'.repeat(60) }] },
  },
  answers: true,
}

describe('the samples of the reference', () => {
  const folder = createTemporaryFolder()
  const { pages } = createReference({
    document: createFileDocument(),
    base: { url: 'http://localhost:3000', known: false },
    screens: [],
    assets: '',
  })
  const samples = [
    ...[...pages.values()].flatMap(readSamples),
    { section: 'awkward', title: '', texts: writeSamples(AWKWARD, 'http://localhost:3000') },
  ]

  /** Writes the samples of a language, and returns the names of their files. */
  const write = (language: Language, extension: string, before = ''): string[] =>
    samples.map(({ texts }, at) => {
      const file = join(folder, `sample${at}.${extension}`)
      writeFileSync(file, `${before}${texts[language]}\n`)
      return file
    })

  it('in TypeScript pass the type checker', async () => {
    write('typescript', 'mts')
    const config = {
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        strict: true,
        noUnusedLocals: true,
        noEmit: true,
        moduleDetection: 'force',
        types: ['node'],
        allowImportingTsExtensions: true,
        paths: { countersign: [join(PROJECT_ROOT, 'clients/typescript/src/index.ts')] },
        typeRoots: [join(PROJECT_ROOT, 'node_modules/@types')],
      },
      include: ['*.mts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { code, output } = await run(join(PROJECT_ROOT, 'node_modules/.bin/tsc'), ['-p', folder])
    expect(output).to.equal('')
    expect(code).to.equal(0)
  })

  it('for a shell are parsed by one', async () => {
    const program = 'for file; do sh -n "$file" || echo "$file"; done'
    expect(await run('sh', ['-c', program, 'sh', ...write('curl', 'sh')])).to.deep.equal({ code: 0, output: '' })
  })

  it('in Python are parsed by it', async function () {
    if (!HAS_PYTHON) this.skip()
    const program = 'import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, encoding="utf-8").read(), name)'
    expect(await run('python3', ['-c', program, ...write('python', 'py')])).to.deep.equal({ code: 0, output: '' })
  })

  it('in Go are parsed and formatted as gofmt has it', async function () {
    if (!HAS_GO) this.skip()
    expect(await run('gofmt', ['-l', ...write('go', 'go')])).to.deep.equal({ code: 0, output: '' })
  })

  it('in PHP are parsed by it', async function () {
    if (!HAS_PHP) this.skip()
    const program = 'foreach (array_slice($argv, 1) as $file) token_get_all(file_get_contents($file), TOKEN_PARSE);'
    expect(await run('php', ['-r', program, '--', ...write('php', 'php')])).to.deep.equal({ code: 0, output: '' })
  })
})
