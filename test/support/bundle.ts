// Bundles the programs that tests start as processes of their own, so that each start reads a few files and not thousands: it takes a third
// of the processor time, and the fault tests start some hundred. `npm start` runs the modules as they are, and .ci/run tries that too.
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'

const FOLDER = join(PROJECT_ROOT, 'dist/bundles')
const MAIN = { name: 'main', source: 'dist/services/main.js' }
const CRASHING = { name: 'crashing-countersign', source: 'dist/test/support/crashing-countersign.js' }

/** The file to start; `bundlePrograms` writes it. */
export const BUNDLED_MAIN = join(FOLDER, `${MAIN.name}.js`)
export const BUNDLED_CRASHING = join(FOLDER, `${CRASHING.name}.js`)
/** As old as all of them. */
export const LAST_BUNDLE = BUNDLED_CRASHING

/** Native, or loaded only where an operator has installed it. */
const NOT_BUNDLED = ['libsql', 'pino-pretty', 'kerberos', 'snappy', 'socks', 'aws4', 'gcp-metadata', '@mongodb-js/zstd']

/** main.js starts a process when it is the program itself, so no other program may have it inside. */
const mainStaysApart: Plugin = {
  name: 'main-stays-apart',
  enforce: 'pre',
  resolveId: (id, importer) =>
    importer !== undefined && id.endsWith('services/main.js') ? { id: `./${MAIN.name}.js`, external: true } : null,
}

export async function bundlePrograms(): Promise<void> {
  const { build } = await import('vite')
  for (const { name, source } of [MAIN, CRASHING])
    await build({
      configFile: false,
      root: PROJECT_ROOT,
      logLevel: 'error',
      plugins: [mainStaysApart],
      ssr: { noExternal: true, external: NOT_BUNDLED },
      build: {
        ssr: true,
        outDir: FOLDER,
        emptyOutDir: name === MAIN.name,
        target: 'node20',
        minify: false,
        rolldownOptions: { input: { [name]: source }, output: { entryFileNames: '[name].js' } },
      },
    })
}
