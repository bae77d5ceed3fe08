// The part that all simulated vendors share: an HTTP server on loopback that accepts messages, fails on demand and calls back. What differs
// between vendors (what they check, how they answer, how they sign) is a `VendorBehavior`.
import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
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
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown
}

/** A callback that the vendor makes to us. */
export interface VendorCallback {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body: string | Buffer
}

/** The statuses of a receipt, which each vendor translates into its own words. */
export type ReceiptStatus = 'sent' | 'delivered' | 'failed' | 'read'

/** What goes wrong with a request. */
export type Fault =
  /** 429; the message is not accepted. */
  | { kind: 'busy'; retryAfter?: string }
  /** 5xx (default: 500); the message is not accepted. */
  | { kind: 'broken'; status?: number }
  /** The recipient is at fault; the message is not accepted. */
  | { kind: 'refused' }
  /** Answers so; the message is not accepted. */
  | { kind: 'answers'; answer: Answer }
  /** The message is accepted, but the answer cannot be parsed. */
  | { kind: 'garbage'; body?: string | Buffer }
  /** The message is accepted and answered after `ms`. */
  | { kind: 'slow'; ms: number }
  /** The message is accepted, but not answered before `release`. */
  | { kind: 'hang' }
  /** The connection is cut: before the request was read, or after the message was accepted. */
  | { kind: 'reset'; when: 'unread' | 'taken' }

export interface Script {
  fault?: Fault
  /** Sent one after the other in this order, repetitions included. */
  receipts?: readonly ReceiptStatus[]
  /** Sends the receipts before the answer. */
  early?: boolean
}

interface VendorBehavior<Message> {
  /** Checks the request as the vendor does. An answer without a message is a refusal. */
  handleRequest(request: ReceivedRequest): { message: Message; answer: Answer } | { answer: Answer }
  /** The answers for faults. Default: the status alone. */
  busy?(): Answer
  broken?(status: number): Answer
  refused(): Answer
  /** A signed receipt; null when the vendor was given no address for it. */
  receipt(message: Message, receiptStatus: ReceiptStatus): VendorCallback | null
}

export interface Vendor<Message> {
  url: string
  /** Every request that was read, well-formed or not. */
  requests: ReceivedRequest[]
  /** Every message that was accepted. */
  messages: Message[]
  /** Every callback that was made, with the status of our response; null when there was no response. */
  calls: (VendorCallback & { status: number | null })[]
  /** Sets the scripts of the next messages, one each; then the script of `always` applies again. */
  next(...scripts: Script[]): void
  /** Sets the script of all other messages. Default: no fault and no receipts. */
  always(script: Script | ((request: ReceivedRequest) => Script)): void
  /** Answers all requests that hang. */
  release(): void
  /** Sends one more receipt; resolves with the status of our response. */
  report(message: Message, receiptStatus: ReceiptStatus): Promise<number | null>
  /** Makes any callback; resolves with the status of our response. */
  call(call: VendorCallback): Promise<number | null>
  /** Resolves once no receipt is being sent. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface VendorOptions {
  /** Maps the public address of a callback to the test's own server. */
  route?(url: string): string
}

export async function startVendor<Message>(
  behavior: VendorBehavior<Message>,
  { route = url => url }: VendorOptions = {},
): Promise<Vendor<Message>> {
  const requests: ReceivedRequest[] = []
  const messages: Message[] = []
  const calls: Vendor<Message>['calls'] = []
  const scripts: Script[] = []
  const hanging = new Set<() => void>()
  const underWay = new Set<Promise<unknown>>()
  let defaultScript: Script | ((request: ReceivedRequest) => Script) = {}

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
    requests.push(request)
    const script = scripts.shift() ?? (typeof defaultScript === 'function' ? defaultScript(request) : defaultScript)
    const refusal = faultAnswer(script.fault)
    if (refusal) return reply(res, refusal)
    const handled = behavior.handleRequest(request)
    if (!('message' in handled)) return reply(res, handled.answer)
    messages.push(handled.message)
    await respond(res, handled, script)
  }

  async function respond(
    res: ServerResponse,
    { message, answer }: { message: Message; answer: Answer },
    { fault, receipts = [], early = false }: Script,
  ): Promise<void> {
    const sendReceipts = async (): Promise<void> => {
      for (const receiptStatus of receipts) await report(message, receiptStatus)
    }
    if (early) await track(sendReceipts())
    if (fault?.kind === 'reset') res.socket?.resetAndDestroy()
    else if (fault?.kind === 'hang') hanging.add(() => reply(res, answer))
    else if (fault?.kind === 'slow') setTimeout(() => reply(res, answer), fault.ms)
    else if (fault?.kind === 'garbage') reply(res, { ...answer, body: fault.body ?? '<html>It works!</html>' })
    else reply(res, answer)
    if (!early) void track(sendReceipts())
  }

  function faultAnswer(fault: Fault | undefined): Answer | null {
    if (fault?.kind === 'refused') return behavior.refused()
    if (fault?.kind === 'answers') return fault.answer
    if (fault?.kind === 'broken') return behavior.broken?.(fault.status ?? 500) ?? { status: fault.status ?? 500 }
    if (fault?.kind !== 'busy') return null
    const { headers, ...answer } = behavior.busy?.() ?? { status: 429 }
    return { ...answer, headers: { ...headers, ...(fault.retryAfter ? { 'retry-after': fault.retryAfter } : {}) } }
  }

  async function report(message: Message, receiptStatus: ReceiptStatus): Promise<number | null> {
    const receipt = behavior.receipt(message, receiptStatus)
    return receipt && call(receipt)
  }

  async function call(callback: VendorCallback): Promise<number | null> {
    const { method, url, headers } = callback
    const body = method === 'POST' ? { body: callback.body } : {}
    const status = await fetch(route(url), { method, headers, ...body }).then(
      async answer => {
        await answer.arrayBuffer()
        return answer.status
      },
      () => null,
    )
    calls.push({ ...callback, status })
    return status
  }

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    messages,
    calls,
    call: callback => track(call(callback)),
    next: (...more) => void scripts.push(...more),
    always: script => {
      defaultScript = script
    },
    release: () => {
      for (const answer of hanging) answer()
      hanging.clear()
    },
    report: (message, receiptStatus) => track(report(message, receiptStatus)),
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

async function read(req: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]))
  return { method: req.method ?? '', path: req.url ?? '', headers, body: Buffer.concat(chunks) }
}

/** The body as an object of JSON; null when it is none. */
export function readObject({ body }: Pick<ReceivedRequest, 'body'>): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

function reply(res: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  const raw = typeof body === 'string' || Buffer.isBuffer(body)
  res.writeHead(status, { 'content-type': raw ? 'text/plain' : 'application/json', ...headers })
  res.end(raw ? body : JSON.stringify(body))
}
