// Messages to `otp.reports`. Most hold one report, whose types are in machines/reports.ts; this is the form for several.

import { isJsonObject } from '../../../infra/json-object.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { OtpReport } from '../../../machines/reports.ts'

/** Several reports in one message, each with the id and the trace that it would have alone. */
export interface ReportBundle {
  type: 'reports'
  all: { id: string; report: OtpReport; trace?: Trace }[]
}

const REPORT_TYPES: readonly OtpReport['type'][] = [
  'delivery.reported',
  'message.received',
  'delivery.refunded',
  'delivery.recharged',
  'otp.due',
]

/** False for a message that another program, or a newer version, has put into the queue. Only what finds the verification is checked. */
export function isReportMessage(body: unknown): body is OtpReport | ReportBundle {
  if (!isJsonObject(body)) return false
  if (body.type !== 'reports') return isReport(body)
  return (
    Array.isArray(body.all) &&
    body.all.every(one => isJsonObject(one) && typeof one.id === 'string' && isReport(one.report))
  )
}

function isReport(report: unknown): boolean {
  if (!isJsonObject(report) || !(REPORT_TYPES as readonly unknown[]).includes(report.type)) return false
  return typeof (report.type === 'message.received' ? report.app_id : report.otp_id) === 'string'
}
