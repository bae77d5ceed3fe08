// Address lists. The API takes all lists at once and imports their texts after its answer, so an import names the others too, which leaves
// them as they are, and waits for its own.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { Argument, type Command } from 'commander'
import { type Api, bodyOf, type Schemas } from '../api.ts'
import { Findings, UsageError } from '../failures.ts'
import { printNote } from '../output.ts'
import { examples, type Session } from '../session.ts'

type AddressList = Schemas['AddressList']
type AddressClass = Schemas['AddressClass']

const CLASSES: AddressClass[] = ['abusive', 'vpn', 'proxy', 'tor', 'datacenter']
const POLL_MS = 500

interface ImportOptions {
  name: string
  confirm?: true
}

export function addLists(program: Command, session: Session): void {
  const lists = program.command('lists').description('lists of abusive, VPN, proxy, Tor and datacenter addresses')
  lists
    .command('list')
    .description('every list, with the state of its import')
    .action(async () => {
      session.showList(await readLists(session.api()), {
        CLASS: list => list.class,
        NAME: ({ name }) => name,
        RANGES: ({ ranges }) => ranges,
        STATUS: ({ status }) => status,
        REFRESHED: ({ refreshed_at }) => refreshed_at,
        PROBLEM: ({ problem }) => problem,
      })
    })
  const importList = lists
    .command('import')
    .description('add or replace a list of ranges, one a line; - reads stdin')
    .addArgument(new Argument('<class>', 'what its addresses are').choices(CLASSES))
    .argument('<file>')
    .option('--name <name>', 'unique within its class', 'default')
    .option('--confirm', 'it is meant that the list holds more than half of all addresses')
    .action(async (addressClass: AddressClass, file: string, { name, confirm }: ImportOptions) => {
      const content = await readContent(file)
      const api = session.api()
      const isNamed = (list: { class: AddressClass; name: string }) => list.class === addressClass && list.name === name
      const others = (await readLists(api))
        .filter(list => list.source.kind !== 'bootstrap' && !isNamed(list))
        .map(list => ({ class: list.class, name: list.name }))
      printNote(`Sending ${content.length} characters…`)
      const own = { class: addressClass, name, text: content, ...(confirm && { confirm }) }
      await api.PUT('/admin/v1/ip-lists', { body: { lists: [...others, own] } })
      const imported = await waitForImport(async () => (await readLists(api)).find(isNamed))
      session.showRecord(imported)
      if (imported.status === 'failed') throw new Findings(`the import failed: ${imported.problem}`)
    })
  examples(importList, 'lists import tor exits.txt', 'lists import vpn - --name vendor-a < ranges.txt')
}

const readLists = async (api: Api): Promise<AddressList[]> => (await bodyOf(api.GET('/admin/v1/ip-lists'))).items

async function readContent(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function waitForImport(read: () => Promise<AddressList | undefined>): Promise<AddressList> {
  for (;;) {
    const list = await read()
    if (list === undefined) throw new Findings('another operator has removed the list meanwhile')
    if (list.status === 'ready' || list.status === 'failed') return list
    const { lines = 0, bytes = 0, total_bytes = null } = list.progress ?? {}
    const share = total_bytes ? ` (${Math.floor((bytes / total_bytes) * 100)} %)` : ''
    printNote(`Importing: ${lines} lines${share}`)
    await wait(POLL_MS)
  }
}
