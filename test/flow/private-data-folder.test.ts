// The files of a process, with a umask that would let everyone read them.
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { ask, createCaller } from '../support/api-caller.ts'
import { type CountersignProcess, useProcesses } from '../support/processes.ts'
import type { Site } from '../support/site.ts'

/** Runs before the program. */
const UMASK_0 = { NODE_OPTIONS: '--import=data:text/javascript,process.umask(0)' }
const FILES = ['countersign.db', 'countersign.db-wal', 'secrets.json']

describe('the data folder of a process', () => {
  const { site, main } = useProcesses()
  before(function () {
    if (process.platform === 'win32') this.skip()
  })

  const folderOf = (here: Site): string => here.env.DATA_DIR ?? ''
  const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)
  const modes = (here: Site): Record<string, string> => ({
    '.': modeOf(folderOf(here)),
    ...Object.fromEntries(readdirSync(folderOf(here)).map(name => [name, modeOf(join(folderOf(here), name))])),
  })
  const privateModes = (...files: string[]) => ({ '.': '700', ...Object.fromEntries(files.map(name => [name, '600'])) })

  async function end(running: CountersignProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    running.process.kill(signal)
    await running.exited
  }

  /** Fills the log of the database. */
  async function send(running: CountersignProcess): Promise<void> {
    const url = await running.ready()
    const [, key = ''] = /(sk_test_\w+)/.exec(await running.waitForLine(line => line.includes('sk_test_'))) ?? []
    expect((await createCaller(url, key).send('+15005550010')).status).to.equal(200)
  }

  it('is closed to other users with every file, whatever the umask, after kill -9 and where it was left open', async () => {
    const here = await site('embedded')
    chmodSync(folderOf(here), 0o777)
    const first = main(here, UMASK_0)
    await send(first)
    expect(modes(here)).to.deep.equal(privateModes(...FILES))
    await end(first, 'SIGKILL')
    expect(modes(here)).to.deep.equal(privateModes(...FILES))
    expect(first.lines.join('\n')).not.to.contain('open_to_other_users')
    chmodSync(folderOf(here), 0o755)
    for (const name of ['countersign.db', 'countersign.db-wal']) chmodSync(join(folderOf(here), name), 0o644)
    const second = main(here, UMASK_0)
    await second.ready()
    expect(modes(here)).to.deep.equal(privateModes(...FILES))
    await end(second, 'SIGTERM')
    expect(modes(here)).to.deep.equal(privateModes('countersign.db', 'secrets.json'))
  })

  it('that cannot be closed is a warning, and its files are private nevertheless', async () => {
    const here = await site('embedded')
    // As /tmp: what is in it belongs to many.
    chmodSync(folderOf(here), 0o1777)
    const running = main(here, UMASK_0)
    const url = await running.ready()
    expect(modes(here)).to.deep.equal({ ...privateModes(...FILES), '.': '1777' })
    const warnings = running.lines
      .filter(line => line.includes('data_folder.open_to_other_users'))
      .map(line => JSON.parse(line))
    expect(warnings.map(({ level, path, mode }) => ({ level, path, mode }))).to.deep.equal([
      { level: 'warn', path: folderOf(here), mode: '1777' },
    ])
    expect((await ask(`${url}/healthz`, {})).status).to.equal(200)
  })
})
