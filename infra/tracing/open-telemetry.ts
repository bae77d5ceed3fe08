// Records spans with OpenTelemetry and sends them to a collector, by OTLP over HTTP. Loaded only where a collector is
// set. Its library reads the standard variables for sampling, batches, headers and resource attributes from the
// environment: docs/tracing.md lists them.
import { AsyncLocalStorage } from 'node:async_hooks'
import * as otel from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import { HOUR_MS, MINUTE_MS } from '../time.ts'
import { withTimeout } from '../timeout.ts'
import type { Trace } from '../trace.ts'
import type { Span, SpanKind, SpanOptions, Tracing } from './tracing.ts'

export interface TracingOptions {
  /** The whole address, ending in `/v1/traces`. */
  url: string
  /** What is said of this process, beside what the environment says. */
  attributes: Readonly<Record<string, string>>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const KINDS: Readonly<Record<SpanKind, otel.SpanKind>> = {
  server: otel.SpanKind.SERVER,
  client: otel.SpanKind.CLIENT,
  consumer: otel.SpanKind.CONSUMER,
}

const LINKED_AFTER_MS = HOUR_MS
/** A collector that is away must not keep a process from stopping. */
const CLOSE_WITHIN_MS = 2_000
const REPORT_EVERY_MS = MINUTE_MS

interface OwnSpan extends Span {
  readonly context: otel.SpanContext
  /** When its trace began here. */
  readonly traceAt: number
}

export function createOpenTelemetry({ url, attributes, clock, log }: TracingOptions): Tracing {
  reportFailures(log, clock)
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(attributes))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  })
  const tracer = provider.getTracer('countersign')
  const running = new AsyncLocalStorage<OwnSpan>()

  function begin(name: string, { kind, parent, attributes: known }: SpanOptions): OwnSpan {
    const from = parent === null ? null : startOf(parent)
    const now = clock.now()
    const isOld = from !== null && now - from.at > LINKED_AFTER_MS
    const continues = from !== null && !isOld
    const span = tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        attributes: { ...known },
        startTime: now,
        root: !continues,
        ...(isOld ? { links: [{ context: from.context }] } : {}),
      },
      continues ? otel.trace.setSpanContext(otel.ROOT_CONTEXT, from.context) : otel.ROOT_CONTEXT,
    )
    const context = span.spanContext()
    const traceAt = continues ? from.at : now
    return {
      context,
      traceAt,
      // Work that outlives the message that started it, such as a loop, still runs in its span.
      get recorded() {
        return span.isRecording()
      },
      trace: request_id => ({ request_id, traceparent: toTraceparent(context), traced_at: traceAt }),
      rename: newName => void span.updateName(newName),
      set: added => void span.setAttributes({ ...added }),
      link({ traceparent }) {
        const linked = traceparent === null ? null : toContext(traceparent)
        if (linked) span.addLink({ context: linked })
      },
      fail(error) {
        const type = error instanceof Error ? error.name : 'Error'
        span.setAttributes({ 'error.type': type })
        span.setStatus({ code: otel.SpanStatusCode.ERROR })
      },
      end: () => span.end(clock.now()),
    }
  }

  /** What a span continues. A caller's trace has no time: it begins here now. */
  function startOf(parent: Trace | Span): { context: otel.SpanContext; at: number } | null {
    if (!('request_id' in parent)) {
      const { context, traceAt } = parent as OwnSpan
      return { context, at: traceAt }
    }
    const context = parent.traceparent === null ? null : toContext(parent.traceparent)
    return context && { context, at: parent.traced_at ?? clock.now() }
  }

  return {
    begin,
    within: (span, task) => running.run(span as OwnSpan, task),
    outside: task => running.exit(task),
    current: () => running.getStore() ?? null,
    close: () => withTimeout(clock, CLOSE_WITHIN_MS, provider.shutdown()).catch(() => {}),
  }
}

/** The library tells failures to one logger of the process, and to none unless it is set. Its warnings are left out: one of them quotes
 *  headers, which may hold a token. */
function reportFailures(log: Pick<Logger, 'warn'>, clock: Pick<Clock, 'now'>): void {
  let reportedAt = Number.NEGATIVE_INFINITY
  const ignore = (): void => {}
  const error = (text: string): void => {
    if (clock.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = clock.now()
    log.warn({ why: messageIn(text) }, 'tracing.not_sent')
  }
  otel.diag.setLogger(
    { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: otel.DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
}

/** Errors come as JSON, with their stack and with what the collector answered. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : 'unknown'
  } catch {
    return text
  }
}

const toTraceparent = ({ traceId, spanId, traceFlags }: otel.SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

/** In: a text that parseTraceparent or toTraceparent has made. */
function toContext(traceparent: string): otel.SpanContext | null {
  const [, traceId, spanId, flags] = traceparent.split('-')
  if (!traceId || !spanId || !flags) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
