// A collector of spans: an HTTP server that takes what an OTLP exporter sends. Out: the spans, and a picture of each trace.
import { type Receiver, startReceiver } from './receiver.ts'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Record<string, string | number>
  links: { traceId: string; spanId: string }[]
  failed: boolean
}

export interface SpanCollector extends Pick<Receiver, 'close'> {
  url: string
  /** In the order in which they came. */
  spans(): CollectedSpan[]
  /** Of each process that sent spans. */
  resources(): Record<string, string | number>[]
}

interface SentAttribute {
  key: string
  value: { stringValue?: string; intValue?: number; doubleValue?: number }
}
interface SentSpan extends Omit<CollectedSpan, 'attributes' | 'links' | 'failed'> {
  attributes: SentAttribute[]
  links?: CollectedSpan['links']
  status: { code?: number }
}
interface SentSpans {
  resourceSpans: { resource: { attributes: SentAttribute[] }; scopeSpans: { spans: SentSpan[] }[] }[]
}

const ERROR_STATUS = 2

export async function startSpanCollector(): Promise<SpanCollector> {
  const receiver = await startReceiver((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
  const sent = (): SentSpans['resourceSpans'] =>
    receiver.received
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => (JSON.parse(body.toString()) as SentSpans).resourceSpans)
  return {
    url: `http://127.0.0.1:${receiver.port}`,
    spans: () => sent().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toSpan))),
    resources: () => sent().map(({ resource }) => toRecord(resource.attributes)),
    close: receiver.close,
  }
}

const toRecord = (attributes: readonly SentAttribute[]): CollectedSpan['attributes'] =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  )

const toSpan = ({ attributes, links = [], status, ...span }: SentSpan): CollectedSpan => ({
  ...span,
  attributes: toRecord(attributes),
  links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
  failed: status.code === ERROR_STATUS,
})

/** The names of a trace's spans, each below its parent and two spaces further in; those of one parent in the order of their pictures. */
export function pictureOf(spans: readonly CollectedSpan[], traceId: string): string[] {
  const all = spans.filter(span => span.traceId === traceId)
  const ids = new Set(all.map(({ spanId }) => spanId))
  const parentOf = ({ parentSpanId = '' }: CollectedSpan): string => (ids.has(parentSpanId) ? parentSpanId : '')
  const below = (parent: string): string[] =>
    all
      .filter(span => parentOf(span) === parent)
      .map(({ name, spanId }) => [name, ...below(spanId).map(line => `  ${line}`)].join('\n'))
      .sort()
      .flatMap(picture => picture.split('\n'))
  return below('')
}
