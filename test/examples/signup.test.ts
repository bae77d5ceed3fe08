// The backends in docs/examples that verify a visitor who signs up and that need packages or other languages, run as processes.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { backendOnPort, listeningBackend } from '../support/backend.ts'
import { spawnChild, spawnCommand } from '../support/child.ts'
import { buildGo, needGo } from '../support/go.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'
import { itSignsUp } from '../support/signup.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

const EXPRESS = 'express@5.3.0'
const FASTAPI = ['fastapi==0.162.7', 'uvicorn==0.54.0']

describe('the sign-up in Express', () => {
  let folder = ''
  before(async () => {
    folder = await installTypescriptClient([EXPRESS])
    cpSync(join(PROJECT_ROOT, 'docs/examples/express'), folder, { recursive: true })
  })
  itSignsUp(env => listeningBackend(spawnChild(join(folder, 'server.mjs'), env)))
})

describe('the sign-up in FastAPI', () => {
  let bin = ''
  before(async function () {
    await needPython(this)
    bin = await createEnvironment([(await buildClient()).wheel, ...FASTAPI])
  })
  itSignsUp(env =>
    backendOnPort(port => {
      const args = ['--app-dir', join(PROJECT_ROOT, 'docs/examples/fastapi'), '--port', String(port), 'main:app']
      return spawnCommand(join(bin, 'uvicorn'), args, { ...env, PYTHONDONTWRITEBYTECODE: '1' })
    }),
  )
})

describe('the sign-up in Go', () => {
  let program = ''
  before(async function () {
    needGo(this)
    program = await buildGo('signup')
  })
  itSignsUp(env => listeningBackend(spawnCommand(program, [], env)))
})
