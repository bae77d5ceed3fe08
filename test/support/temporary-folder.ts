// A temporary folder for a suite. It is removed when the process exits, so that files still open in it do not matter.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const folders: string[] = []

export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  if (folders.push(folder) === 1) process.once('exit', removeAll)
  return folder
}

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
