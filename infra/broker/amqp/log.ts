// What the adapter asks of a logger, and the one used when none is given.
import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
