// The real engines of this test run, by environment variable. A suite of `onRealEngines` is reported as skipped where a URL is missing.
import process from 'node:process'

export const MONGODB_URL = process.env.MONGODB_URL
export const AMQP_URL = process.env.AMQP_URL

/** The folder of the engines that infra/engines.sh started; a test needs it to restart or block an engine. */
export const ENGINES_DIR = process.env.ENGINES_DIR

export function onRealEngines(title: string, needs: Record<string, string | undefined>, suite: () => void): void {
  const missing = Object.keys(needs).filter(name => !needs[name])
  if (missing.length === 0) describe(title, suite)
  else describe(title, () => it.skip(`needs ${missing.join(', ')}: run "npm run test:engines"`))
}
