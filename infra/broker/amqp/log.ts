// The part of a logger that the adapter uses, and the default one, which logs nothing.
import type { Logger } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
