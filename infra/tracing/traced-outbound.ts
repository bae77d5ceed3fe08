// In: what calls providers and endpoints. Out: the same, with a span for each call that has a trace or is made inside a
// span that is recorded, and a `traceparent` of that span where the call has one. Only the host is recorded: the path
// of a vendor's address may hold a secret, and an endpoint's is its tenant's.
import type { Outbound } from '../outbound/outbound.ts'
import { inSpan, type Tracing } from './tracing.ts'

export const traceOutbound = (outbound: Outbound, tracing: Tracing): Outbound => ({
  ...outbound,
  request(request) {
    const current = tracing.current()
    const parent = request.trace?.traceparent ? request.trace : current?.recorded ? current : null
    if (parent === null) return outbound.request(request)
    const { method, url, headers } = request
    const attributes = { 'http.request.method': method, 'server.address': hostOf(url) }
    return inSpan(tracing, method, { kind: 'client', parent, attributes }, async span => {
      const { traceparent } = span.trace('')
      const sent = headers.traceparent && traceparent ? { ...headers, traceparent } : headers
      const answer = await outbound.request({ ...request, headers: sent })
      span.set({ 'http.response.status_code': answer.status })
      return answer
    })
  },
})

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '')
