// The secrets of a development system. In: the data folder. Out: the secrets in its file, which the first start writes. Production gives
// all secrets in the environment and never uses the file. A file that other users can read is refused, not repaired: they may have
// read it already, so the operator has to decide whether to keep it.
import { randomBytes } from 'node:crypto'
import { link, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { z } from 'zod'
import { dataFolderProblem } from '../data-folder.ts'
import { ensurePrivateFolder, modeIfOpen } from '../private-files.ts'
import type { Config } from './config.ts'
import { ConfigProblems } from './problems.ts'
import { adminTokens, codeSecrets, dataKeys, type Secrets } from './secrets.ts'

const SECRETS_FILE = 'secrets.json'

/** In the format of the environment, so that an operator can copy a line from the file. */
const content = z.object({ CODE_SECRETS: codeSecrets(), DATA_KEYS: dataKeys(), ADMIN_TOKEN: adminTokens() })

/** The secrets of the environment. In development, the file supplies those that the environment lacks. */
export async function resolveSecrets({ secrets, dataDir }: Pick<Config, 'secrets' | 'dataDir'>): Promise<Secrets> {
  const { code, data, adminTokens } = secrets
  if (code && data && adminTokens) return { code, data, adminTokens }
  const development = await readDevelopmentSecrets(dataDir)
  return {
    code: code ?? development.code,
    data: data ?? development.data,
    adminTokens: adminTokens ?? development.adminTokens,
  }
}

export async function readDevelopmentSecrets(dataDir: string): Promise<Secrets> {
  try {
    return await readOrCreateSecrets(dataDir)
  } catch (error) {
    throw dataFolderProblem(dataDir, error)
  }
}

async function readOrCreateSecrets(dataDir: string): Promise<Secrets> {
  const file = join(dataDir, SECRETS_FILE)
  ensurePrivateFolder(dataDir)
  if (!(await exists(file))) await createSecretsFile(file)
  refuseReadableByOthers(file)
  const parsed = content.safeParse(membersOf(await readFile(file, 'utf8'), file))
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    throw brokenFile(file, problems.join('; '))
  }
  const { CODE_SECRETS: code, DATA_KEYS: data, ADMIN_TOKEN: tokens } = parsed.data
  return { code, data, adminTokens: tokens }
}

/** The file appears whole or not at all. Of two processes that start together, the first to link its draft wins. */
async function createSecretsFile(file: string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(draft, `${JSON.stringify(newSecrets(), null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
    await link(draft, file).catch(unlessCode('EEXIST'))
  } finally {
    await unlink(draft).catch(unlessCode('ENOENT'))
  }
}

const newSecrets = () => ({
  CODE_SECRETS: `dev:${randomBytes(32).toString('base64')}`,
  DATA_KEYS: `dev:${randomBytes(32).toString('base64')}`,
  ADMIN_TOKEN: randomBytes(24).toString('base64url'),
})

function refuseReadableByOthers(file: string): void {
  const mode = modeIfOpen(file)
  if (mode !== null)
    throw fileProblem(file, `other users can read it (mode ${mode}). If none of them has, run: chmod 600 ${file}`)
}

function membersOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw brokenFile(file, 'it is not JSON')
  }
}

const fileProblem = (file: string, message: string): ConfigProblems =>
  new ConfigProblems([{ name: 'DATA_DIR', message: `${file}: ${message}` }])

const brokenFile = (file: string, why: string): ConfigProblems =>
  fileProblem(
    file,
    `${why}. Restore it: without it the data beside it cannot be read. Only with no such data, delete it`,
  )

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    error => {
      unlessCode('ENOENT')(error)
      return false
    },
  )

const unlessCode =
  (code: string) =>
  (error: NodeJS.ErrnoException): void => {
    if (error.code !== code) throw error
  }
