// The TypeScript client as a user gets it. Out: a folder with a package.json, in which `npm pack` and `npm install`
// have put the package. It is packed in a copy, because several test runs may pack it at a time.
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { type Ran, run } from './interpreters.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

/** `packages`: others that are installed beside it, such as `express@5.3.0`. Their scripts are not run. */
export async function installTypescriptClient(packages: readonly string[] = []): Promise<string> {
  const [copy, user] = [createTemporaryFolder(), createTemporaryFolder()]
  const source = join(copy, 'clients/typescript')
  mkdirSync(join(copy, 'clients'))
  cpSync(join(PROJECT_ROOT, 'clients/typescript'), source, { recursive: true })
  for (const name of ['tsconfig.json', 'infra', 'node_modules']) symlinkSync(join(PROJECT_ROOT, name), join(copy, name))
  writeFileSync(join(user, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  expectDone(await run('npm', ['pack', '--silent', '--pack-destination', user], { cwd: source }))
  const tarball = readdirSync(user).find(name => name.endsWith('.tgz')) ?? expect.fail('npm pack made no package')
  const options = [
    '--silent',
    '--no-audit',
    '--ignore-scripts',
    packages.length === 0 ? '--offline' : '--prefer-offline',
  ]
  expectDone(await run('npm', ['install', ...options, `./${tarball}`, ...packages], { cwd: user }))
  return user
}

const expectDone = ({ code, output }: Ran): void => void expect(code, output).to.equal(0)
