// Options that several commands have, and how their values are read.
import { type Command, InvalidArgumentError } from 'commander'

export interface LimitOption {
  limit: number
}

const DEFAULT_LIMIT = 50

/** For commands that list. */
export const addLimit = (command: Command): Command =>
  command.option('--limit <n>', 'how many at most', parseCount, DEFAULT_LIMIT)

export function parseCount(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return value
}

export function parseMicros(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number of micro-units: 5000000 is 5.')
  return value
}
