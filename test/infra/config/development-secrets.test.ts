import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { ConfigProblems, readConfig } from '../../../infra/config/config.ts'
import { readDevelopmentSecrets } from '../../../infra/config/development-secrets.ts'

describe('the secrets of a development system', () => {
  let root: string
  let folder: string
  const file = () => join(folder, 'secrets.json')
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'countersign-secrets-'))
    folder = join(root, 'a', 'data')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const refusalMessage = async () => {
    const error = await readDevelopmentSecrets(folder).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ConfigProblems)
    return (error as ConfigProblems).message
  }
  function write(content: string, mode = 0o600) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file(), content)
    chmodSync(file(), mode)
  }

  it('are made once for each data folder, and stay the same', async () => {
    const made = await readDevelopmentSecrets(folder)
    expect(made.code[0]?.key).to.have.length(32)
    expect(made.data[0]?.key).to.have.length(32)
    expect(made.data[0]?.key).not.to.deep.equal(made.code[0]?.key)
    expect(made.adminTokens[0]?.token).to.match(/^[\w-]{32}$/)
    expect(await readDevelopmentSecrets(folder)).to.deep.equal(made)
    expect((await readDevelopmentSecrets(join(root, 'b'))).data).not.to.deep.equal(made.data)
  })

  it('are the same for processes that start together, and leave no other file', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => readDevelopmentSecrets(folder)))
    for (const secrets of all) expect(secrets).to.deep.equal(all[0])
    expect(readdirSync(folder)).to.deep.equal(['secrets.json'])
  })

  it('are written in the format of the environment', async () => {
    const made = await readDevelopmentSecrets(folder)
    const env: Record<string, string> = JSON.parse(readFileSync(file(), 'utf8'))
    expect(readConfig(env, []).secrets).to.deep.equal(made)
  })

  it('are refused with a remedy if other users can read them', async function () {
    if (process.platform === 'win32') return this.skip()
    await readDevelopmentSecrets(folder)
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(file(), mode)
      expect(await refusalMessage())
        .to.contain(`mode ${mode.toString(8)}`)
        .and.to.contain(`chmod 600 ${file()}`)
    }
    chmodSync(file(), 0o600)
    expect((await readDevelopmentSecrets(folder)).data).to.have.length(1)
  })

  it('are refused if they are broken, and never replaced, because the data could not be read any more', async () => {
    for (const text of ['', '{', '[]', '{"CODE_SECRETS": 7}']) {
      write(text)
      expect(await refusalMessage(), text).to.contain(file())
      expect(readFileSync(file(), 'utf8')).to.equal(text)
    }
  })

  it('are refused with the name of every broken member, and without its value', async () => {
    write(JSON.stringify({ CODE_SECRETS: 'dev:c2hvcnQ=', ADMIN_TOKEN: 'two words', DATA_KEYS: '' }))
    const message = await refusalMessage()
    for (const name of ['CODE_SECRETS', 'ADMIN_TOKEN', 'DATA_KEYS']) expect(message).to.contain(name)
    for (const value of ['c2hvcnQ', 'two words']) expect(message).not.to.contain(value)
  })
})
