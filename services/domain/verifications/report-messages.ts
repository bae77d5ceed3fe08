// Messages to `otp.reports`. Most hold one report, whose types are in machines/reports.ts; this is the form for several.
import type { Trace } from '../../../infra/trace.ts'
import type { OtpReport } from '../../../machines/reports.ts'

/** Several reports in one message, each with the id and the trace that it would have alone. */
export interface ReportBundle {
  type: 'reports'
  all: { id: string; report: OtpReport; trace?: Trace }[]
}
