import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { requireYoungHeap } from '../../infra/heap.ts'
import { StartProblem } from '../../infra/start-problem.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

describe('HEAP_YOUNG_MB', () => {
  /** The words that infra/start.sh starts Node with. */
  function wordsOfNode(HEAP_YOUNG_MB: string | undefined, ...roles: string[]): string[] {
    const programs = createTemporaryFolder()
    writeFileSync(join(programs, 'node'), '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    chmodSync(join(programs, 'node'), 0o700)
    const { HEAP_YOUNG_MB: _, ...env } = process.env
    const started = execFileSync(join(PROJECT_ROOT, 'infra/start.sh'), roles, {
      encoding: 'utf8',
      env: { ...env, PATH: `${programs}:${env.PATH}`, ...(HEAP_YOUNG_MB === undefined ? {} : { HEAP_YOUNG_MB }) },
    })
    return started.trimEnd().split('\n')
  }

  it('becomes a flag of Node', () => {
    const words = ['--max-semi-space-size=32', 'dist/services/main.js', 'edge', 'otp']
    expect(wordsOfNode('32', 'edge', 'otp')).to.deep.equal(words)
  })

  it('is left to the program where it is not set, or no number', () => {
    for (const value of [undefined, '', '32 --inspect', '-1'])
      expect(wordsOfNode(value, 'edge')).to.deep.equal(['dist/services/main.js', 'edge'])
  })

  it('is a problem where Node was started without it', () => {
    expect(() => requireYoungHeap(32, ['--enable-source-maps'])).to.throw(
      StartProblem,
      'HEAP_YOUNG_MB: Node takes it only when it starts. Start with npm start, or with node --max-semi-space-size=32',
    )
    for (const written of ['32', '032']) requireYoungHeap(32, [`--max-semi-space-size=${written}`])
    requireYoungHeap(null, [])
  })
})
