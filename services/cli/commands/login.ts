// `login` writes a profile once the deployment has accepted its token, `logout` removes it.
import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { bodyOf, createApi } from '../api.ts'
import { UsageError } from '../failures.ts'
import { printNote } from '../output.ts'
import { DEFAULT_URL, isLocalOrHttps, parseBaseUrl, removeProfile, writeProfile } from '../profile.ts'
import { examples, type Session } from '../session.ts'

export function addLogin(program: Command, session: Session): void {
  const login = program
    .command('login')
    .description('keep the address and the token of a deployment, in a file that only you can read')
    .option('--token-stdin', 'read the token from stdin, and ask nothing')
    .action(async ({ tokenStdin }: { tokenStdin?: true }) => {
      const connection = tokenStdin ? await fromStdin(session.url()) : await fromQuestions(session.url())
      const { name } = await bodyOf(createApi(connection).GET('/admin/v1/me'))
      const path = writeProfile(session.profile(), connection)
      session.showDone(`Signed in to ${connection.url} as ${name}. The token is in ${path}.`, {
        url: connection.url,
        name,
        path,
      })
    })
  examples(
    login,
    'login',
    'login --url https://verify.example.com --profile production',
    'login --url http://127.0.0.1:3000 --token-stdin < token',
  )
  program
    .command('logout')
    .description('remove what login has written')
    .action(() => {
      removeProfile(session.profile())
      session.showDone('Signed out.')
    })
}

async function fromStdin(url = process.env.COUNTERSIGN_URL || DEFAULT_URL) {
  const token = (await text(process.stdin)).trim()
  if (token === '') throw new UsageError('there is no token on stdin')
  return { url: parseBaseUrl(url), token }
}

async function fromQuestions(given: string | undefined) {
  if (!process.stdin.isTTY) throw new UsageError('there is no terminal to ask at: use --token-stdin')
  const { input, password } = await import('@inquirer/prompts')
  const output = { output: process.stderr }
  const url = parseBaseUrl(
    given ?? (await input({ message: 'Address of the deployment', default: DEFAULT_URL }, output)),
  )
  if (!isLocalOrHttps(url)) printNote('This address is not https: others on the way can read the token.')
  const token = await password({ message: 'A token of ADMIN_TOKEN', mask: true }, output)
  return { url, token: token.trim() }
}
