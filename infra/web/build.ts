// Builds the web pages with Vite. In: the source folder of each site. Out: dist/web/<name>, every text file with a gzip and a Brotli twin,
// so that no request compresses anything. A site whose sources are older than its last build is left as it is, so that `npm start`
// builds once.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import process from 'node:process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { LogLevel, Plugin } from 'vite'
import { BUILT_MARK, builtSiteFolder, PROJECT_ROOT } from './built-site.ts'

/** Files that compress. */
const TEXT_FILE = /\.(html|js|css|svg|json|txt)$/

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

const lastChange = (files: readonly string[]): number => Math.max(...files.map(file => statSync(file).mtimeMs))

const markTime = (site: string): number =>
  statSync(join(builtSiteFolder(site), BUILT_MARK), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Sources outside the folder that a site may import, and what decides the versions of its packages. */
const SHARED_SOURCES = [
  'package.json',
  'package-lock.json',
  'services/dashboard/screens.ts',
  'clients/typescript/src/challenge-solver.ts',
  'machines/magic-recipients.ts',
  'machines/masking.ts',
  'machines/countries.ts',
  'machines/settings.ts',
  'services/dashboard/apps/settings.data.ts',
  'services/domain/tenancy/setting-list.ts',
  'services/dashboard/web/styles/tokens.css',
  'infra/web/build.ts',
]

function isUpToDate(site: string, sources: string): boolean {
  const shared = SHARED_SOURCES.map(file => join(PROJECT_ROOT, file)).filter(file =>
    statSync(file, { throwIfNoEntry: false }),
  )
  return markTime(site) > lastChange([...filesUnder(sources), ...shared])
}

function compress(folder: string): void {
  for (const file of filesUnder(folder).filter(name => TEXT_FILE.test(name))) {
    const content = readFileSync(file)
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
    )
  }
}

/** Runs a compiled module. Out: what it exports. */
type RunModule = (file: string) => Promise<Record<string, unknown>>

/** A module that ends in `.data.ts` runs in the build, and the pages get what it exports as JSON: words and bounds of
 *  the server without the packages that declare them. */
const dataModules = (run: RunModule): Plugin => ({
  name: 'data-modules',
  async load(id) {
    if (!id.endsWith('.data.ts')) return null
    const exported = await run(join(PROJECT_ROOT, 'dist', relative(PROJECT_ROOT, id).replace(/\.ts$/, '.js')))
    return Object.entries(exported)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
      .join('')
  },
})

/** A site without a page is one script, which pages of others load. */
const SCRIPT = { input: 'web/element.ts', output: { entryFileNames: 'element.js', codeSplitting: false } }

async function buildSite(site: string, sources: string, run: RunModule): Promise<void> {
  const folder = builtSiteFolder(site)
  // Built beside its place and moved there, so that a process that starts meanwhile finds a whole site.
  const fresh = `${folder}.${process.pid}`
  // Loaded where it is used: where nothing is built, loading it would take most of the time.
  const { build } = await import('vite')
  const isPage = existsSync(join(sources, 'index.html'))
  await build({
    root: sources,
    base: '/',
    configFile: false,
    publicDir: 'public',
    logLevel: 'warn' satisfies LogLevel,
    plugins: [dataModules(run)],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: fresh,
      emptyOutDir: true,
      target: 'es2022',
      // A small asset as a data: URL would need an exception in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // On a slow machine it would warn of its own plugins.
      rolldownOptions: { checks: { pluginTimings: false }, ...(isPage ? {} : SCRIPT) },
      assetsDir: `${site}-assets`,
    },
  })
  compress(fresh)
  writeFileSync(join(fresh, BUILT_MARK), '')
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}

/** `sites`: the source folder of each, by its name. `onBuild` is told of each that is built. */
export async function buildSites(
  sites: Readonly<Record<string, string>>,
  onBuild: (site: string) => void,
  run: RunModule,
): Promise<void> {
  mkdirSync(join(PROJECT_ROOT, 'dist/web'), { recursive: true })
  for (const [site, sources] of Object.entries(sites)) {
    const folder = join(PROJECT_ROOT, sources)
    if (isUpToDate(site, folder)) continue
    onBuild(site)
    await buildSite(site, folder, run)
  }
}
