#!/usr/bin/env node
// `npx countersign …` in a clone. It compiles what has changed, as `npm start` does, then runs the command line. It is JavaScript because
// nothing is compiled yet when it runs for the first time.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'

const ROOT = join(import.meta.dirname, '../..')

// stdout belongs to the command.
const build = spawnSync(process.execPath, [join(ROOT, 'infra/build.mjs'), 'cli'], { stdio: ['ignore', 2, 2] })
if (build.status !== 0) process.exit(build.status ?? 1)
await import(join(ROOT, 'dist/services/cli/main.js'))
