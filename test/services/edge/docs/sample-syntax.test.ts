// Every sample of the reference is valid in its language. Where this machine has no interpreter of one, a test says so and checks less.
import { readFileSync, writeFileSync } from 'node:fs'
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

  it('are many', () => {
    expect(samples.length).to.be.greaterThan(70)
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
    for (const file of write('curl', 'sh'))
      expect(await run('sh', ['-n', file]), file).to.deep.equal({ code: 0, output: '' })
  })

  it(
    HAS_PYTHON ? 'in Python are parsed by it' : 'in Python have pairs of brackets: there is no Python here',
    async () => {
      const files = write('python', 'py')
      if (!HAS_PYTHON) return expectPairs(files, '#')
      const program = 'import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, encoding="utf-8").read(), name)'
      expect(await run('python3', ['-c', program, ...files])).to.deep.equal({ code: 0, output: '' })
    },
  )

  it(
    HAS_GO ? 'in Go are parsed and formatted as gofmt has it' : 'in Go have pairs of brackets: there is no Go here',
    async () => {
      const files = write('go', 'go')
      if (!HAS_GO) return expectPairs(files, '//')
      expect(await run('gofmt', ['-l', ...files])).to.deep.equal({ code: 0, output: '' })
    },
  )

  it(HAS_PHP ? 'in PHP are parsed by it' : 'in PHP have pairs of brackets: there is no PHP here', async () => {
    const files = write('php', 'php')
    if (!HAS_PHP) return expectPairs(files, '//')
    for (const file of files) expect((await run('php', ['-l', file])).code, file).to.equal(0)
  })
})

/** Every bracket outside of texts and comments has its pair. */
function expectPairs(files: readonly string[], comment: string): void {
  const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' }
  for (const file of files) {
    const code = readFileSync(file, 'utf8').replaceAll(
      /\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|`[^`]*`/g,
      '',
    )
    const open: string[] = []
    for (const line of code.split('\n'))
      for (const sign of line.split(comment)[0] ?? '') {
        if ('([{'.includes(sign)) open.push(sign)
        else if (sign in pairs) expect(open.pop(), file).to.equal(pairs[sign])
      }
    expect(open, file).to.deep.equal([])
  }
}
