// Files that only the user of this process may read, under any umask and after any modes that they had before. In: a folder, or one of our
// files in it. Out: the folder has mode 0700 and the file 0600, as far as this user may change them.
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'

const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
const OTHERS = 0o077
const STICKY = 0o1000

/** Windows has no such bits: its files report all of them as set. */
const hasModes = process.platform !== 'win32'

/** Makes the folder, or closes an existing one to other users. */
export function ensurePrivateFolder(folder: string): void {
  makeFolder(resolve(folder))
  if (!isShared(folder)) tighten(folder, PRIVATE_FOLDER)
}

/** Makes the folder and those above it, one by one: Node's own recursive `mkdir` never ends where the system refuses a folder with ENOENT,
 *  as it does in /proc. */
function makeFolder(folder: string): void {
  if (statsOf(folder)?.isDirectory()) return
  const parent = dirname(folder)
  if (parent !== folder && statsOf(parent) === undefined) makeFolder(parent)
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statsOf(folder)?.isDirectory()) throw error
  }
}

/** Makes an empty file, or closes an existing one to other users. A program that opens it afterwards keeps its mode. An
 *  existing file is not opened: closing it again would release the locks that this process holds on it. */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  tighten(path, PRIVATE_FILE)
}

/** Closes a file to other users, if it exists. */
export const tightenFile = (path: string): void => tighten(path, PRIVATE_FILE)

const MAX_REPORTED_FILES = 10

/** The folder and some of its files, with their modes, if other users can reach them. None if the folder itself is private, or is not
 *  there. */
export function findOpenToOthers(folder: string): { path: string; mode: string }[] {
  const mode = modeIfOpen(folder)
  if (mode === null) return []
  const openFiles = readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    const file = statsOf(path)
    return file?.isFile() && isOpen(file) ? [{ path, mode: modeText(file) }] : []
  })
  return [{ path: folder, mode }, ...openFiles.slice(0, MAX_REPORTED_FILES)]
}

/** The mode of a file or folder that other users can reach. Null where it is private, or not there. */
export function modeIfOpen(path: string): string | null {
  const stats = statsOf(path)
  return isOpen(stats) ? modeText(stats) : null
}

const modeText = ({ mode }: Stats): string => (mode & 0o7777).toString(8)

/** A folder that holds other folders is not ours alone: the root, a home or /tmp must not be closed by a mistake in DATA_DIR. */
function isShared(folder: string): boolean {
  const isSticky = ((statsOf(folder)?.mode ?? 0) & STICKY) !== 0
  return (
    isSticky ||
    readdirSync(folder, { withFileTypes: true }).some(entry => entry.isDirectory() && !OWN_FOLDERS.includes(entry.name))
  )
}

/** The folder of backups in the data folder. */
export const BACKUPS = 'backups'
/** Where a volume is mounted there may be `lost+found`. */
const OWN_FOLDERS = [BACKUPS, 'lost+found']

function tighten(path: string, mode: number): void {
  if (!isOpen(statsOf(path))) return
  try {
    chmodSync(path, mode)
  } catch {
    // It is another user's, or on a disk without modes. findOpenToOthers() reports it.
  }
}

const isOpen = (stats: Stats | undefined): stats is Stats => hasModes && ((stats?.mode ?? 0) & OTHERS) !== 0

const statsOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })
