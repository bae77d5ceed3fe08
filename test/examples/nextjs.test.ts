// docs/examples/nextjs in Next.js itself, built and started as in production. test/docs calls its handlers without Next.js.
import { join } from 'node:path'
import process from 'node:process'
import { type Backend, backendOnPort } from '../support/backend.ts'
import { spawnCommand } from '../support/child.ts'
import { succeed } from '../support/interpreters.ts'
import { installNextjsExample, SIGN_UP_PATHS, WEBHOOK_PATH } from '../support/nextjs-example.ts'
import { itSignsUp } from '../support/signup.ts'
import { itReceivesWebhooks } from '../support/webhook-receiver.ts'

/** With what it would install itself for an app in TypeScript, in versions of its own choice. */
const NEXT = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'typescript@5.9.3',
  '@types/node@20.19.43',
  '@types/react@19.3.0',
]
const INSTALLS_AND_BUILDS_MS = 900_000

describe('the example in Next.js itself', () => {
  let folder = ''
  const env = { NEXT_TELEMETRY_DISABLED: '1' }
  const next = () => join(folder, 'node_modules/next/dist/bin/next')
  before(async function () {
    this.timeout(INSTALLS_AND_BUILDS_MS)
    folder = await installNextjsExample(NEXT)
    await succeed(process.execPath, [next(), 'build'], { cwd: folder, env })
  })
  const start = (more: Record<string, string>): Promise<Backend> =>
    backendOnPort(port =>
      spawnCommand(process.execPath, [next(), 'start', '--port', String(port)], { ...env, ...more }, folder),
    )

  describe('as a sign-up', () => itSignsUp(start, SIGN_UP_PATHS))
  describe('as a receiver of webhooks', () => itReceivesWebhooks(start, WEBHOOK_PATH))
})
