// Spans of the work of a process, for a trace store. This file is the port; open-telemetry.ts records them. Where they are not recorded
// there is no Tracing at all, nothing is wrapped, and a send costs what it cost before.
//
// A span holds no recipient, no code, no address with a secret in it and nothing that a tenant has written.
import type { Trace } from '../trace.ts'

export type SpanKind = 'server' | 'client' | 'consumer'
export type Attributes = Readonly<Record<string, string | number>>

export interface SpanOptions {
  kind: SpanKind
  /** What the span continues: the trace of a request or a message, or another span. Null: it begins a trace. A trace
   *  that began more than an hour ago is not continued but linked to, because trace stores close a trace long before. */
  parent: Trace | Span | null
  attributes: Attributes
}

export interface Span {
  /** False where sampling left the trace out, and after the end: then nothing more need be measured. */
  readonly recorded: boolean
  /** The trace of the messages that this work causes. */
  trace(request_id: string): Trace
  rename(name: string): void
  set(attributes: Attributes): void
  /** Names another trace that this work belongs to. */
  link(trace: Pick<Trace, 'traceparent'>): void
  /** Says that the work failed. Of an error only its name is recorded: its text may hold what a vendor wrote. */
  fail(error: unknown): void
  end(): void
}

export interface Tracing {
  begin(name: string, options: SpanOptions): Span
  /** Runs a task, and everything that it starts, inside a span. */
  within<R>(span: Span, task: () => R): R
  /** Runs a task, and everything that it starts, outside of any span. */
  outside<R>(task: () => R): R
  /** The span that this code runs in. */
  current(): Span | null
  /** Sends what is left. */
  close(): Promise<void>
}

/** Runs a task in a span of its own. */
export async function inSpan<R>(
  tracing: Tracing,
  name: string,
  options: SpanOptions,
  task: (span: Span) => Promise<R>,
): Promise<R> {
  const span = tracing.begin(name, options)
  try {
    return await tracing.within(span, () => task(span))
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}
