// `init` asks a few questions and writes a bootstrap file, with its API keys in files of their own, so that the
// bootstrap file can live in git.
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { Command } from 'commander'
import { ensurePrivateFile, ensurePrivateFolder } from '../../../infra/private-files.ts'
import type { Schemas } from '../api.ts'
import { UsageError } from '../failures.ts'
import { printNote } from '../output.ts'
import { examples, type Session } from '../session.ts'

type Channel = Schemas['Channel']

const CHANNELS: Channel[] = ['sms', 'whatsapp', 'telegram', 'email']
const MODES: Schemas['Mode'][] = ['test', 'live']

/** What is asked, unless it was given as an option. */
interface Answers {
  company: string
  app: string
  channels: Channel[]
  locale: string
  /** Empty: all. */
  countries: string[]
  /** Empty: none. */
  webhook: string
}

const DEFAULTS: Answers = {
  company: 'Acme',
  app: 'Shop',
  channels: ['sms', 'email'],
  locale: 'en',
  countries: [],
  webhook: '',
}

interface InitOptions
  extends Partial<Record<'company' | 'app' | 'channels' | 'locale' | 'countries' | 'webhook', string>> {
  defaults?: true
  force?: true
}

export function addInit(program: Command, session: Session): void {
  const init = program
    .command('init [file]')
    .description('ask a few questions and write a bootstrap file (bootstrap.json)')
    .option('--company <name>', 'who runs the app')
    .option('--app <name>', 'stands in the messages')
    .option('--channels <list>', 'in the order in which they are tried, such as sms,email')
    .option('--locale <language>', 'of messages, where a send names none')
    .option('--countries <list>', 'the only ones whose numbers are accepted, such as GB,IE')
    .option('--webhook <address>', 'that receives events')
    .option('--defaults', 'ask nothing')
    .option('--force', 'replace an existing file')
    .action(async (file = 'bootstrap.json', options: InitOptions = {}) => {
      const path = resolve(file)
      if (existsSync(path) && !options.force) throw new UsageError(`${path} exists: --force replaces it`)
      const given = parseGiven(options)
      const answers = { ...DEFAULTS, ...given, ...(options.defaults ? {} : await ask(given)) }
      const keys = writeKeys(join(dirname(path), 'countersign-keys'))
      writeFileSync(path, `${JSON.stringify(bootstrapOf(answers, keys), null, 2)}\n`)
      session.showDone(
        `${path} is written. Its API keys are in ${dirname(keys[0]?.key_file ?? '')}, which only you can read.`,
        {
          file: path,
          keys,
        },
      )
      printNote(`Start it with BOOTSTRAP_FILE=${path} npm start. Live sends need providers too: docs/providers.md.`)
    })
  examples(init, 'init', 'init acme.json --company Acme --app Shop --channels sms,email --countries GB,IE --defaults')
}

const words = (text: string): string[] =>
  text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')

function parseGiven({ company, app, channels, locale, countries, webhook }: InitOptions): Partial<Answers> {
  return {
    ...(company !== undefined && { company }),
    ...(app !== undefined && { app }),
    ...(channels !== undefined && { channels: parseChannels(channels) }),
    ...(locale !== undefined && { locale }),
    ...(countries !== undefined && { countries: words(countries) }),
    ...(webhook !== undefined && { webhook }),
  }
}

function parseChannels(text: string): Channel[] {
  const named = words(text)
  const channels = CHANNELS.filter(channel => named.includes(channel))
  if (channels.length !== named.length || named.length === 0)
    throw new UsageError(`channels are some of ${CHANNELS.join(', ')}, each once`)
  return channels.sort((a, b) => named.indexOf(a) - named.indexOf(b))
}

async function ask(given: Partial<Answers>): Promise<Partial<Answers>> {
  if (!process.stdin.isTTY) throw new UsageError('there is no terminal to ask at: give options and --defaults')
  const { checkbox, input } = await import('@inquirer/prompts')
  const output = { output: process.stderr }
  const askText = async (name: 'company' | 'app' | 'locale' | 'webhook', message: string): Promise<Partial<Answers>> =>
    given[name] === undefined ? { [name]: await input({ message, default: DEFAULTS[name] }, output) } : {}
  const choices = CHANNELS.map(value => ({ value, checked: DEFAULTS.channels.includes(value) }))
  return {
    ...(await askText('company', 'Company')),
    ...(await askText('app', 'App, as messages name it')),
    ...(given.channels === undefined && {
      channels: await checkbox({ message: 'Channels, in this order', choices, required: true }, output),
    }),
    ...(await askText('locale', 'Language of messages')),
    ...(given.countries === undefined && {
      countries: words(await input({ message: 'Only these countries, such as GB,IE (empty: all)' }, output)),
    }),
    ...(await askText('webhook', 'Address that receives events (empty: none)')),
  }
}

interface KeyFile {
  id: string
  kind: 'server'
  mode: Schemas['Mode']
  key_file: string
}

/** A key that is there stays: a deployment may know it. */
function writeKeys(folder: string): KeyFile[] {
  ensurePrivateFolder(folder)
  return MODES.map(mode => {
    const key_file = join(folder, mode)
    if (!existsSync(key_file)) {
      ensurePrivateFile(key_file)
      writeFileSync(key_file, `sk_${mode}_${randomBytes(32).toString('hex')}`)
    }
    return { id: `key_backend${mode}`, kind: 'server', mode, key_file }
  })
}

/** An id has letters and digits only. */
const idOf = (prefix: string, name: string): string =>
  `${prefix}_${
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '')
      .slice(0, 40) || 'main'
  }`

function bootstrapOf({ company, app, channels, locale, countries, webhook }: Answers, keys: KeyFile[]): object {
  const settings = {
    locale,
    routing: { default: channels },
    channels: Object.fromEntries(CHANNELS.map(channel => [channel, { enabled: channels.includes(channel) }])),
    allowed_countries: countries.length === 0 ? null : countries,
  }
  const endpoint = webhook === '' ? {} : { webhook: { url: webhook } }
  const apps = [{ id: idOf('app', app), name: app, settings, keys, ...endpoint }]
  return { companies: [{ id: idOf('cmp', company), name: company, apps }] }
}
