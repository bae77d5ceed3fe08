// Which engine sets this run can use. Suites written with `onRealEngines` are visibly skipped where the URLs are missing.
import process from 'node:process'

export const MONGODB_URL = process.env.MONGODB_URL
export const AMQP_URL = process.env.AMQP_URL

/** Where infra/engines.sh keeps the engines it started; lets a test restart or block them. */
export const ENGINES_DIR = process.env.ENGINES_DIR

export function onRealEngines(title: string, needs: Record<string, string | undefined>, suite: () => void): void {
  const missing = Object.keys(needs).filter(name => !needs[name])
  if (missing.length === 0) describe(title, suite)
  else describe(title, () => it.skip(`needs ${missing.join(', ')}: run "npm run test:engines"`))
}
