// A call that gets no answer, or only one of a proxy, may have been executed. So each credit has an idempotency key,
// and the error tells it.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { bodyOf, takeItems } from '../api.ts'
import { isServerAway, withAdvice } from '../failures.ts'
import { addLimit, type LimitOption, parseMicros } from '../options.ts'
import { examples, type Session } from '../session.ts'

interface AddOptions {
  note: string
  idempotencyKey?: string
}

export function addCredit(program: Command, session: Session): void {
  const credit = program.command('credit').description("add to a company's balance, and read its ledger")
  credit
    .command('add <company>')
    .description('money in micro-units: 5000000 is 5')
    .argument('<micros>', 'negative to take back', parseMicros)
    .requiredOption('--note <text>', 'why: it stands in the ledger')
    .option('--idempotency-key <key>', 'repeating the command with it adds nothing')
    .action(async (id: string, micros: number, { note, idempotencyKey = randomUUID() }: AddOptions) => {
      const call = session.api().POST('/admin/v1/companies/{id}/credit', {
        params: { path: { id }, header: { 'idempotency-key': idempotencyKey } },
        body: { micros, note },
      })
      const account = await bodyOf(call).catch(error => {
        if (!isServerAway(error)) throw error
        throw withAdvice(error, `to repeat it safely: --idempotency-key ${idempotencyKey}`)
      })
      session.showRecord(account)
    })
  addLimit(credit.command('list <company>').description('its ledger, newest first')).action(
    async (id: string, { limit }: LimitOption) => {
      const api = session.api()
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/companies/{id}/ledger', { params: { path: { id }, query } })),
      )
      session.showList(items, {
        AT: ({ at }) => at,
        KIND: ({ kind }) => kind,
        MICROS: ({ micros }) => micros,
        BALANCE: ({ balance_after }) => balance_after,
        OTP: ({ otp_id }) => otp_id,
        NOTE: ({ note }) => note,
      })
    },
  )
  examples(credit, 'credit add cmp_… 5000000 --note "invoice 17" --idempotency-key invoice-17', 'credit list cmp_…')
}
