// A folder of its own for a suite. It goes when the process does, so that no suite has to mind what is still open in it.
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
