// The part of a simulated vendor that is the same for all: an HTTP server on loopback that takes messages, misbehaves on demand and
// calls back. What is particular to a vendor (what it checks, how it answers, how it signs) is a `Manner`.
import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a vendor got. */
export interface SeenRequest {
  method: string
  /** Path and query. */
  path: string
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  /** Anything but bytes and strings goes out as JSON. */
  body?: unknown
}

/** A callback on its way to us. */
export interface VendorCallback {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body: string | Buffer
}

/** What becomes of a message, in common words; each vendor has its own. */
export type ReceiptStatus = 'sent' | 'delivered' | 'failed' | 'read'

/** What goes wrong with a request. */
export type Fault =
  /** 429, nothing taken. */
  | { kind: 'busy'; retryAfter?: string }
  /** 5xx (500 unless told), nothing taken. */
  | { kind: 'broken'; status?: number }
  /** The recipient's own fault, nothing taken. */
  | { kind: 'refused' }
  /** Taken, and answered with something nobody can read. */
  | { kind: 'garbage'; body?: string | Buffer }
  /** Taken, and answered after a while. */
  | { kind: 'slow'; ms: number }
  /** Taken, and not answered before `release`, if ever. */
  | { kind: 'hang' }
  /** The connection is cut: before the request was read, or after the message was taken. */
  | { kind: 'reset'; when: 'unread' | 'taken' }

export interface Script {
  fault?: Fault
  /** In this order, one after the other, repeats and all: so a vendor doubles and mixes them up. */
  receipts?: readonly ReceiptStatus[]
  /** The receipts are out before the answer is. */
  early?: boolean
}

export interface VendorBehavior<Message> {
  /** Checks the request as the vendor does. An answer without a message is a refusal, or a question answered. */
  take(seen: SeenRequest): { message: Message; answer: Answer } | { answer: Answer }
  /** The answers to what goes wrong; a status alone unless the vendor says more. */
  busy?(): Answer
  broken?(status: number): Answer
  refused(): Answer
  /** Signed; null when the vendor was given nowhere to call. */
  receipt(message: Message, receiptStatus: ReceiptStatus): VendorCallback | null
  /** False for requests that use up no script: questions before the message itself. True unless told. */
  isSend?(seen: SeenRequest): boolean
}

export interface Vendor<Message> {
  url: string
  /** Every request that was read, well-formed or not. */
  seen: SeenRequest[]
  /** Every message that was taken. */
  messages: Message[]
  /** Every callback made, with our answer to it; null when there was none. */
  calls: (VendorCallback & { status: number | null })[]
  /** What the next messages meet, one script each; then `always` again. */
  next(...scripts: Script[]): void
  /** What every message without a script of its own meets; at first all goes well, without receipts. */
  always(script: Script | ((seen: SeenRequest) => Script)): void
  /** Answers all that hang. */
  release(): void
  /** Sends a receipt of its own accord. */
  report(message: Message, receiptStatus: ReceiptStatus): Promise<number | null>
  /** Makes any callback; answers our status. */
  call(call: VendorCallback): Promise<number | null>
  /** Resolves once no receipt is on its way. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface VendorOptions {
  /** Where a callback for this address really connects: a public address is nowhere in a test. */
  route?(url: string): string
}

export async function startVendor<Message>(
  behavior: VendorBehavior<Message>,
  { route = url => url }: VendorOptions = {},
): Promise<Vendor<Message>> {
  const seen: SeenRequest[] = []
  const messages: Message[] = []
  const calls: Vendor<Message>['calls'] = []
  const scripts: Script[] = []
  const hanging = new Set<() => void>()
  const underWay = new Set<Promise<unknown>>()
  let defaultScript: Script | ((seen: SeenRequest) => Script) = {}

  const server = createServer((req, res) => {
    void serve(req, res).catch(() => req.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const unread = scripts[0]?.fault
    if (unread?.kind === 'reset' && unread.when === 'unread') {
      scripts.shift()
      req.socket.resetAndDestroy()
      return
    }
    const request = await read(req)
    seen.push(request)
    const isSend = behavior.isSend?.(request) ?? true
    const script = isSend
      ? (scripts.shift() ?? (typeof defaultScript === 'function' ? defaultScript(request) : defaultScript))
      : {}
    const refusal = faultAnswer(script.fault)
    if (refusal) return reply(res, refusal)
    const taken = behavior.take(request)
    if (!('message' in taken)) return reply(res, taken.answer)
    messages.push(taken.message)
    await respond(res, taken, script)
  }

  async function respond(res: ServerResponse, taken: { message: Message; answer: Answer }, script: Script) {
    const { fault, receipts = [], early = false } = script
    const sendReceipts = async (): Promise<void> => {
      for (const receiptStatus of receipts) await report(taken.message, receiptStatus)
    }
    if (early) await tracked(sendReceipts())
    if (fault?.kind === 'reset') res.socket?.resetAndDestroy()
    else if (fault?.kind === 'hang') hanging.add(() => reply(res, taken.answer))
    else if (fault?.kind === 'slow') setTimeout(() => reply(res, taken.answer), fault.ms)
    else if (fault?.kind === 'garbage') reply(res, { ...taken.answer, body: fault.body ?? '<html>It works!</html>' })
    else reply(res, taken.answer)
    if (!early) void tracked(sendReceipts())
  }

  function faultAnswer(fault: Fault | undefined): Answer | null {
    if (fault?.kind === 'refused') return behavior.refused()
    if (fault?.kind === 'broken') return behavior.broken?.(fault.status ?? 500) ?? { status: fault.status ?? 500 }
    if (fault?.kind !== 'busy') return null
    const { headers, ...answer } = behavior.busy?.() ?? { status: 429 }
    return { ...answer, headers: { ...headers, ...(fault.retryAfter ? { 'retry-after': fault.retryAfter } : {}) } }
  }

  async function report(message: Message, receiptStatus: ReceiptStatus): Promise<number | null> {
    const receipt = behavior.receipt(message, receiptStatus)
    return receipt && call(receipt)
  }

  async function call(made: VendorCallback): Promise<number | null> {
    const { method, url, headers } = made
    const body = method === 'POST' ? { body: made.body } : {}
    const status = await fetch(route(url), { method, headers, ...body }).then(
      async answer => {
        await answer.arrayBuffer()
        return answer.status
      },
      () => null,
    )
    calls.push({ ...made, status })
    return status
  }

  function tracked<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    messages,
    calls,
    call: made => tracked(call(made)),
    next: (...more) => void scripts.push(...more),
    always: script => {
      defaultScript = script
    },
    release: () => {
      for (const answer of hanging) answer()
      hanging.clear()
    },
    report: (message, receiptStatus) => tracked(report(message, receiptStatus)),
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay)
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function read(req: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]))
  return { method: req.method ?? '', path: req.url ?? '', headers, body: Buffer.concat(chunks) }
}

function reply(res: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  const raw = typeof body === 'string' || Buffer.isBuffer(body)
  res.writeHead(status, { 'content-type': raw ? 'text/plain' : 'application/json', ...headers })
  res.end(raw ? body : JSON.stringify(body))
}
