// The route handlers of docs/examples/nextjs, called with Request objects, without Next.js.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { type Backend, listeningBackend } from '../support/backend.ts'
import { spawnChild } from '../support/child.ts'
import { compiledFile } from '../support/compiled.ts'
import { run } from '../support/interpreters.ts'
import { installNextjsExample, SIGN_UP_PATHS, WEBHOOK_PATH, WEBHOOK_ROUTE } from '../support/nextjs-example.ts'
import { itSignsUp } from '../support/signup.ts'
import { addFailingWork, itReceivesWebhooks } from '../support/webhook-receiver.ts'

const PROGRAM = join(PROJECT_ROOT, compiledFile('test/support/route-handlers.child.ts'))
/** The members of the file that Next.js writes which decide something here. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    typeRoots: [join(PROJECT_ROOT, 'node_modules/@types')],
    types: ['node'],
  },
  include: ['app'],
}

describe('the example for Next.js', () => {
  let folder = ''
  before(async () => {
    folder = await installNextjsExample()
    addFailingWork(join(folder, WEBHOOK_ROUTE))
  })
  const start = (env: Record<string, string>): Backend =>
    listeningBackend(spawnChild(PROGRAM, env, [folder], ['--import', import.meta.resolve('tsx')]))

  it('compiles in a strict app', async () => {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc')
    expect(await run(process.execPath, [tsc, '-p', '.'], { cwd: folder })).to.deep.equal({ code: 0, output: '' })
  })

  describe('as a sign-up', () => itSignsUp(start, SIGN_UP_PATHS))
  describe('as a receiver of webhooks', () => itReceivesWebhooks(start, WEBHOOK_PATH))
})
