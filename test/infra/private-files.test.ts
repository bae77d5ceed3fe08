// Modes of files. The whole of it, with a umask of 0 and in a process of its own, is in test/flow/private-data-folder.test.ts.
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { ensurePrivateFile, ensurePrivateFolder, findOpenToOthers, tightenFile } from '../../infra/private-files.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

describe('private files', () => {
  let folder: string
  let umask: number
  before(function () {
    if (process.platform === 'win32') this.skip()
    umask = process.umask(0)
  })
  after(() => {
    process.umask(umask)
  })
  beforeEach(() => {
    folder = join(createTemporaryFolder(), 'data')
  })

  it('are in a folder of mode 700, made or tightened, its parents too if they are made', () => {
    const deep = join(folder, 'deeper')
    ensurePrivateFolder(deep)
    expect([modeOf(folder), modeOf(deep)]).to.deep.equal(['700', '700'])
    mkdirSync(join(deep, 'lost+found'))
    for (const mode of [0o755, 0o777, 0o750, 0o701]) {
      chmodSync(deep, mode)
      ensurePrivateFolder(deep)
      expect(modeOf(deep)).to.equal('700')
    }
  })

  it('have mode 600, made or tightened, and keep their content', () => {
    ensurePrivateFolder(folder)
    const file = join(folder, 'file')
    ensurePrivateFile(file)
    expect(modeOf(file)).to.equal('600')
    writeFileSync(file, 'content')
    chmodSync(file, 0o664)
    ensurePrivateFile(file)
    expect([modeOf(file), statSync(file).size]).to.deep.equal(['600', 7])
  })

  it('are tightened where DATA_DIR is a link', () => {
    mkdirSync(folder, { mode: 0o755 })
    symlinkSync(folder, `${folder}-link`)
    ensurePrivateFolder(`${folder}-link`)
    expect(modeOf(folder)).to.equal('700')
  })

  it('do not close a folder that others use: one with folders in it, or one like /tmp', () => {
    mkdirSync(join(folder, 'lost+found'), { recursive: true })
    chmodSync(folder, 0o1777)
    ensurePrivateFolder(folder)
    expect(modeOf(folder)).to.equal('1777')
    chmodSync(folder, 0o755)
    mkdirSync(join(folder, 'of-another-program'))
    ensurePrivateFolder(folder)
    expect(modeOf(folder)).to.equal('755')
    expect(findOpenToOthers(folder)).to.deep.equal([{ path: folder, mode: '755' }])
  })

  it('that stay open to other users are listed, but not many of them', () => {
    mkdirSync(folder, { mode: 0o755 })
    for (let at = 0; at < 20; at += 1) writeFileSync(join(folder, `file-${at}`), '', { mode: 0o644 })
    writeFileSync(join(folder, 'private'), '', { mode: 0o600 })
    const open = findOpenToOthers(folder)
    tightenFile(join(folder, 'none'))
    expect(findOpenToOthers(join(folder, 'none'))).to.deep.equal([])
    expect(open[0]).to.deep.equal({ path: folder, mode: '755' })
    expect(open).to.have.length(11)
    expect(open.map(({ path }) => path)).not.to.include(join(folder, 'private'))
  })
})
