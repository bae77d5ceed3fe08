// The example for Next.js in Next.js itself: built with `next build`, served with `next start`. test/docs calls its
// handlers without Next.js.
import { join } from 'node:path'
import process from 'node:process'
import { type Backend, backendOnPort } from '../support/backend.ts'
import { spawnCommand } from '../support/child.ts'
import { succeed } from '../support/interpreters.ts'
import { installNextjsExample, SIGN_UP_PATHS, WEBHOOK_PATH, WEBHOOK_ROUTE } from '../support/nextjs-example.ts'
import { itSignsUp } from '../support/signup.ts'
import { addFailingWork, itReceivesWebhooks } from '../support/webhook-receiver.ts'

/** Next.js installs the last three by itself where they are missing. */
const PACKAGES = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'typescript@5.9.3',
  '@types/node@20.19.43',
  '@types/react@19.3.0',
]
const QUIET = { NEXT_TELEMETRY_DISABLED: '1' }

describe('the example in Next.js', () => {
  let folder = ''
  before(async function () {
    this.timeout(600_000)
    folder = await installNextjsExample(PACKAGES)
    addFailingWork(join(folder, WEBHOOK_ROUTE))
    await succeed(join(folder, 'node_modules/.bin/next'), ['build'], { cwd: folder, env: QUIET })
  })
  const start = (env: Record<string, string>): Promise<Backend> =>
    backendOnPort(port => {
      const next = join(folder, 'node_modules/next/dist/bin/next')
      const args = [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)]
      return spawnCommand(process.execPath, args, { ...env, ...QUIET, NODE_ENV: 'production' }, folder)
    })

  describe('as a sign-up', () => itSignsUp(start, SIGN_UP_PATHS))
  describe('as a receiver of webhooks', () => itReceivesWebhooks(start, WEBHOOK_PATH))
})
